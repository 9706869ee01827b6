// A hash chain over the log: an anchor that is kept elsewhere shows later whether earlier events were changed.
import { createHash } from "node:crypto";
import type { RecordedEvent } from "../stores/event-store/port.ts";
import { canonicalJson } from "./canonical-json.ts";

/** Independent of the event store's product, so that anchors also compare a log with its copy in another store. */
export type Anchor = { events: number; digest: string };

const OF_NO_EVENTS = "0".repeat(64);

/** Parses `<number of events>:<SHA-256, hex>`; undefined for other text, and for what no log can have. */
export function parseAnchor(text: string): Anchor | undefined {
  const [, number, digest] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (digest === undefined) return undefined;
  const events = Number(number);
  return events > 0 || digest === OF_NO_EVENTS ? { events, digest } : undefined;
}

export function anchorText({ events, digest }: Anchor): string {
  return `${events}:${digest}`;
}

/** Hash chain: each digest is the SHA-256 of the previous digest and the next event. */
export class LogDigest {
  #events = 0;
  #digest = OF_NO_EVENTS;

  add({ stream, revision, id, type, data, metadata }: RecordedEvent): Anchor {
    const text = canonicalJson([stream, revision, id, type, data, metadata]);
    this.#digest = createHash("sha256").update(this.#digest).update(text).digest("hex");
    this.#events += 1;
    return this.anchor;
  }

  get anchor(): Anchor {
    return { events: this.#events, digest: this.#digest };
  }
}
