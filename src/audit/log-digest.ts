// A digest over the log from its first event on: who keeps it elsewhere can tell later whether the past was changed.
import { createHash } from "node:crypto";
import type { RecordedEvent } from "../event-store/port.ts";

/** `<number of events>:<SHA-256, hex>`; the same on every store, so that it also compares a log with its copy. */
export type Anchor = { events: number; digest: string };

/** Undefined for what is no anchor. */
export function parseAnchor(text: string): Anchor | undefined {
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text);
  return match ? { events: Number(match[1]), digest: match[2] as string } : undefined;
}

export function anchorText({ events, digest }: Anchor): string {
  return `${events}:${digest}`;
}

/** Each link of the chain is the hash of the one before and of the next event. */
export class LogDigest {
  #events = 0;
  #digest = "0".repeat(64);

  add({ stream, revision, id, type, data, metadata }: RecordedEvent): Anchor {
    const text = canonical([stream, revision, id, type, data, metadata]);
    this.#digest = createHash("sha256").update(this.#digest).update(text).digest("hex");
    this.#events += 1;
    return this.anchor;
  }

  get anchor(): Anchor {
    return { events: this.#events, digest: this.#digest };
  }
}

/** JSON with sorted keys: stores keep members, not their order. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}
