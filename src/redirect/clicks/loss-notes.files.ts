// Notes in a file which clicks a process loses where it ends before it could store them, for the next one to say in the log.
// Of a fixed size, and only written over, as the disk may be full by then.
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import type { ClickGap, LossNotes } from "./lost-hits.ts";

const PLACE_BYTES = 256;
const PLACES = 128;
const BLANK = " ".repeat(PLACE_BYTES);

/** `place`: where to begin, as processes that share the file may end at the same moment. The file is made if it can be. */
export function lossNotesIn(file: string, place: number): LossNotes {
  try {
    writeFileSync(file, BLANK.repeat(PLACES), { mode: 0o600, flag: "wx", flush: true });
  } catch {
    // It is there, or there is no room: then what is lost is said in the program's own log alone.
  }
  const texts = () => {
    const text = readFileSync(file, "latin1");
    return Array.from({ length: PLACES }, (_, n) =>
      text.slice(n * PLACE_BYTES, (n + 1) * PLACE_BYTES).trim(),
    );
  };
  function write(at: number, text: string): void {
    const handle = openSync(file, "r+");
    try {
      writeSync(handle, text.padEnd(PLACE_BYTES), at * PLACE_BYTES, "latin1");
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  }
  return {
    left() {
      return texts().flatMap((text) => gapIn(text) ?? []);
    },
    note(gap) {
      const there = texts();
      const free = Array.from({ length: PLACES }, (_, n) => (place + n) % PLACES);
      const at = free.find((n) => !gapIn(there[n] ?? "") || gapIn(there[n] ?? "")?.id === gap.id);
      if (at === undefined) throw new Error(`${file} has no room`);
      write(at, JSON.stringify(gap));
    },
    clear(id) {
      for (const [n, text] of texts().entries()) if (gapIn(text)?.id === id) write(n, BLANK);
    },
  };
}

function gapIn(text: string): ClickGap | undefined {
  try {
    const { id, from, until, hits } = JSON.parse(text) as ClickGap;
    return { id: String(id), from: Number(from), until: Number(until), hits: Number(hits) };
  } catch {
    return undefined;
  }
}
