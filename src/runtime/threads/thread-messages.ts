// The messages between a thread that serves objects and its client (serve-thread.ts, thread-client.ts).
import type { ErrorFields } from "../error-fields.ts";
import type { ThreadLog } from "./keep-thread.ts";

/** A method of one of the served objects; arguments are structured-cloned. */
export type MethodCall = { object: string; method: string; args: readonly unknown[] };

/**
 * `call` is answered with the method's result; `open` once the method's generator is stored under the request's id;
 * `next` with its next value; `close` when all calls are answered and the objects are closed. `cancel` has no answer.
 */
export type ThreadRequest =
  | ({ op: "call" | "open" } & MethodCall)
  | { op: "next"; stream: number }
  | { op: "close" };
export type ToThread = (ThreadRequest & { id: number }) | { op: "cancel"; stream: number };

/** `json`: objects and arrays as text, which for many values takes less CPU time than a structured clone. */
export type Encoded = { json: string } | { value: unknown };
/** `done`: the generator has ended with this return value. */
export type Outcome = ({ done?: boolean } & Encoded) | { failure: ErrorFields };
/** Id 0 belongs to no request: the thread is ready. */
export type ThreadAnswer = { id: number } & Outcome;
export type FromThread = ThreadAnswer[] | ThreadLog;

export function encoded(value: unknown): Encoded {
  return typeof value === "object" && value !== null ? { json: JSON.stringify(value) } : { value };
}

export function decoded(answer: Encoded): unknown {
  return "json" in answer ? JSON.parse(answer.json) : answer.value;
}
