// Given-when-then for deciders: given past events, when a command is decided, then these events or this refusal.
import { expect } from "vitest";
import type { RefusalCode } from "../../../src/runtime/refused.ts";

export function deciderOf<S, E>(initial: S, evolve: (state: S, event: E) => S) {
  return {
    given(...history: readonly E[]) {
      const state = history.reduce(evolve, initial);
      return {
        when(decide: (state: S) => readonly E[]) {
          return {
            thenEvents: (...events: readonly E[]) => expect(decide(state)).toEqual(events),
            thenNothing: () => expect(decide(state)).toEqual([]),
            thenRefused: (code: RefusalCode) =>
              expect(() => decide(state)).toThrow(expect.objectContaining({ code })),
          };
        },
      };
    },
  };
}
