// Memoized functions: what repeats is computed once, and long inputs take no more memory than many short ones.
import { describe, expect, it } from "vitest";
import { memoize } from "../../../src/runtime/memoize.ts";

describe("a memoized function", () => {
  it("keeps many short inputs, and of long ones fewer", () => {
    const computed: string[] = [];
    const lengthOf = memoize(100, (text: string) => {
      computed.push(text);
      return text.length;
    });
    const timesComputed = (texts: string[]) => {
      const before = computed.length;
      for (const text of [...texts, ...texts]) expect(lengthOf(text)).toBe(text.length);
      return computed.length - before;
    };
    const texts = (length: number) => Array.from({ length: 100 }, (_, n) => String(n).padStart(length));
    expect(timesComputed(texts(100))).toBe(100);
    expect(timesComputed(texts(16_000))).toBe(200);
    expect(timesComputed(texts(16_000).slice(0, 3))).toBe(3);
  });
});
