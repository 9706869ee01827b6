// Bodies of appends: whatever is stored is read back, whichever size its compressed form has.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compressed, jsonOf, readRow } from "../../../src/stores/event-store/sqlite/bodies.ts";

const dictionary = readFileSync(
  new URL("../../../src/stores/event-store/sqlite/clicks-1.zstd-dictionary", import.meta.url),
);
/** Bytes of output that Node takes from its compressor at a time, by default. */
const PIECE = 16_384;

/** A step of one character may skip a size, so several texts are tried. */
const TEXTS = ["a", "b", "c", "d"];

/** Base64, which can't be compressed below six bits a character; the same text every time. */
function noise(name: string, length: number): string {
  return createHash("shake256", { outputLength: length }).update(name).digest("base64").slice(0, length);
}

describe("a compressed body", () => {
  it.each([1, 2])("is read back at every size around %i pieces of the compressor's output", (pieces) => {
    const sizes = new Set<number>();
    const unreadable: number[] = [];
    for (const name of TEXTS) {
      const text = noise(name, pieces * 23_000);
      const eventOf = (length: number) => ({
        id: "01a21db7-57e5-70fd-bf40-76b57c0da9f6",
        type: "LinkClicked",
        data: { text: text.slice(0, length) },
        metadata: { schemaVersion: 1 },
      });
      const bodyOf = (length: number) => compressed(jsonOf([eventOf(length)]), dictionary);
      let length = pieces * 21_000;
      while (bodyOf(length).length < pieces * PIECE - 20) length += 5;
      for (let body = bodyOf(length); body.length < pieces * PIECE + 20; body = bodyOf(++length)) {
        sizes.add(body.length);
        const place = { position: 1, stream: "clicks-a", revision: 0, count: 1, recorded_at: "" };
        const [event] = readRow({ ...place, dictionary: 1, body }, new Map([[1, dictionary]])).events;
        if (event?.unreadable !== undefined) unreadable.push(body.length);
        else expect(event?.data).toEqual(eventOf(length).data);
      }
    }
    expect(sizes).toContain(pieces * PIECE);
    expect(unreadable).toEqual([]);
  });
});
