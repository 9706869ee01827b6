// Bodies of appends: whatever is stored is read back, whichever size its compressed form has.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { randomNumbers } from "../../../bench/load/requests.ts";
import { compressed, jsonOf, readRow } from "../../../src/stores/event-store/sqlite/bodies.ts";

const dictionary = readFileSync(
  new URL("../../../src/stores/event-store/sqlite/clicks-1.zstd-dictionary", import.meta.url),
);
const PIECE = 16_384;

/** Characters that can't be compressed below six bits each, the same ones every time. */
function noise(length: number): string {
  const random = randomNumbers(1);
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return Array.from({ length }, () => alphabet[Math.floor(random() * 64)]).join("");
}

describe("a compressed body", () => {
  it.each([1, 2])("is read back at every size around %i pieces of the compressor's output", (pieces) => {
    const text = noise(pieces * 23_000);
    const sizes = new Set<number>();
    const unreadable: number[] = [];
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
      const row = {
        position: 1,
        stream: "clicks-a",
        revision: 0,
        count: 1,
        recorded_at: "",
        dictionary: 1,
        body,
      };
      const [event] = readRow(row, new Map([[1, dictionary]])).events;
      if (event?.unreadable !== undefined) unreadable.push(body.length);
      else expect(event?.data).toEqual(eventOf(length).data);
    }
    expect(sizes).toContain(pieces * PIECE);
    expect(unreadable).toEqual([]);
  });
});
