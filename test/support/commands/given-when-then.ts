// Given-when-then for deciders: given past events, when a command is decided, then these events or this error.
import { expect } from "vitest";

type Refusal = abstract new (...args: never[]) => Error;

export function deciderOf<S, E>(initial: S, evolve: (state: S, event: E) => S) {
  return {
    given(...history: readonly E[]) {
      const state = history.reduce(evolve, initial);
      return {
        when(decide: (state: S) => readonly E[]) {
          return {
            thenEvents: (...events: readonly E[]) => expect(decide(state)).toEqual(events),
            thenNothing: () => expect(decide(state)).toEqual([]),
            thenRefused: (refusal: Refusal) => expect(() => decide(state)).toThrow(refusal),
          };
        },
      };
    },
  };
}
