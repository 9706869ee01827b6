// Who else writes to a server: the server itself, and programs whose streams and types may be called like ours.
import { randomUUID } from "node:crypto";
import { categoryOf } from "../../../../src/stores/event-store/categories.ts";
import type { DoubleLog, Proposed } from "./log.ts";

/** What stands in the log of a new server before its first client comes. */
const SERVERS_OWN: [stream: string, type: string, data: string][] = [
  ["$$$users", "$metadata", `{"$acl":{"$r":"$admins","$w":"$admins","$d":"$admins","$mr":"$admins"}}`],
  ["$$$settings", "$metadata", `{"$acl":{"$r":"$admins","$w":"$admins"}}`],
  ["$$$scavenges", "$metadata", `{"$maxAge":2592000}`],
  ["$user-admin", "$UserCreated", `{"loginName":"admin","fullName":"Event Store Administrator"}`],
  ["$users", "$User", `"admin"`],
  ["$scavenges", "$scavengeStarted", `{"scavengeId":"one"}`],
];

type Foreign = [type: string, contentType: string, data: Buffer];

/** Data of another program under a type of ours: of another shape, cut off, and of another format. */
const FOREIGN: Foreign[] = [
  ["AccountOpened", "application/json", Buffer.from(`{"account":42,"opened":"yesterday"}`)],
  ["LinkCreated", "application/json", Buffer.from(`{"link":`)],
  ["LinkClicked", "application/octet-stream", Buffer.from([0, 255, 1])],
  ["OrderPlaced", "application/json", Buffer.from(`["a list"]`)],
];

/** The last one: what the server's projection by category writes. */
const STREAMS = ["account-42", "link-7", "orders-1", "linkage", "$ce-account"];

/** Events of others before ours. */
const BEFORE_US = 60;

export class Others {
  readonly #log: DoubleLog;
  #written = 0;

  constructor(log: DoubleLog) {
    this.#log = log;
    for (const [stream, type, data] of SERVERS_OWN)
      this.#append(stream, type, "application/json", Buffer.from(data));
    this.write(BEFORE_US);
    // Streams of others come and go, too.
    log.delete("orders-1");
    log.tombstone("parcels-9");
  }

  /** As while our processes run, or are down. */
  write(count: number): void {
    for (let n = 0; n < count; n += 1) this.#next(STREAMS[this.#written % STREAMS.length] as string);
  }

  /** Beside each append of ours one event, every other one in a category that begins like that of the append. */
  writeBeside(stream: string): void {
    if (this.#written % 2 === 0) this.write(1);
    else this.#next(`${categoryOf(stream)}s-${this.#written % 3}`);
  }

  #next(stream: string): void {
    const link: Foreign = ["$>", "text/plain", Buffer.from("0@account-42")];
    const foreign = FOREIGN[this.#written % FOREIGN.length] as Foreign;
    this.#append(stream, ...(stream.startsWith("$") ? link : foreign));
    this.#written += 1;
  }

  #append(stream: string, type: string, contentType: string, data: Buffer): void {
    const event: Proposed = { id: randomUUID(), type, contentType, data, metadata: Buffer.alloc(0) };
    this.#log.write(stream, [event]);
  }
}
