// What a thread that serves objects and its client say to each other (serve-thread.ts, thread-client.ts).

import type { ErrorFields } from "../error-fields.ts";
import type { ThreadLog } from "./keep-thread.ts";

/** Names a method of one of the objects that the thread serves; arguments are structured clones. */
export type MethodCall = { object: string; method: string; args: readonly unknown[] };

/**
 * `call` is answered by what the method resolves to; `open` when the method's generator is kept under the request's
 * id; `next` by its next value; `close` when all calls are answered and the objects are closed. `cancel` has no answer.
 */
export type Request =
  | ({ op: "call" | "open" } & MethodCall)
  | { op: "next"; stream: number }
  | { op: "close" };
export type ToThread = (Request & { id: number }) | { op: "cancel"; stream: number };

/** `json`: an object or array as text, which costs both threads less than a structured clone of many values. */
export type Encoded = { json: string } | { value: unknown };
/** `done`: the generator has ended, with this value. */
export type Outcome = ({ done?: boolean } & Encoded) | { failure: ErrorFields };
/** Id 0 answers no request: the thread is ready. */
export type FromThread = ({ id: number } & Outcome) | ThreadLog;

export function encoded(value: unknown): Encoded {
  return typeof value === "object" && value !== null ? { json: JSON.stringify(value) } : { value };
}

export function decoded(answer: Encoded): unknown {
  return "json" in answer ? JSON.parse(answer.json) : answer.value;
}
