// Spoils chosen events in the file of an embedded log, as a bad disk or a careless hand does.
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { NewEvent, Position } from "../../../src/stores/event-store/port.ts";
import type { Spoiling } from "./spoilt-event-store.ts";

type Body = string | Uint8Array;

/** `spoilt`: by position; each is of an append of its own. */
export function spoilLogFile(file: string, spoilt: ReadonlyMap<Position, Spoiling>): void {
  const db = new DatabaseSync(file);
  const row = db.prepare(
    "SELECT body, bytes FROM appends LEFT JOIN dictionaries ON number = dictionary WHERE position = ? AND count = 1",
  );
  const write = db.prepare("UPDATE appends SET body = ? WHERE position = ?");
  for (const [position, how] of spoilt) {
    const { body, bytes } = row.get(Number(position)) as { body: Body; bytes: Uint8Array | null };
    write.run(spoiltBody(body, bytes, how), Number(position));
  }
  db.close();
}

function spoiltBody(body: Body, dictionary: Uint8Array | null, how: Spoiling): Body {
  if (how === "cut bytes") return body.slice(0, body.length / 2);
  const options = dictionary ? { dictionary } : {};
  const text = typeof body === "string" ? body : zstdDecompressSync(body, options).toString();
  const changed = how === "not JSON" ? "gone" : JSON.stringify(changedEvents(JSON.parse(text), how));
  return typeof body === "string" ? changed : zstdCompressSync(changed, options);
}

function changedEvents(events: NewEvent[], how: "wrong schema" | "unknown type"): NewEvent[] {
  return events.map((event) =>
    how === "wrong schema" ? { ...event, data: { at: "once" } } : { ...event, type: `${event.type}Twice` },
  );
}
