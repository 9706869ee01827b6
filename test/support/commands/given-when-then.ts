// Given-when-then for deciders: given past events, when a command is decided, then these events or this refusal.
import { expect } from "vitest";
import type { RefusalCode } from "../../../src/commands/refusals.ts";

export function deciderOf<S, E>(initial: S, evolve: (state: S, event: E) => S) {
  return (given: readonly E[], when: (state: S) => readonly E[], then: readonly E[] | RefusalCode) => {
    const state = given.reduce(evolve, initial);
    if (typeof then !== "string") expect(when(state)).toEqual(then);
    else expect(() => when(state)).toThrow(expect.objectContaining({ code: then }));
  };
}
