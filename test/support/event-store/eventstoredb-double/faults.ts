// The script of what goes wrong: each call of a kind takes the next line, and without one all goes well.
import { Metadata, type StatusObject } from "@grpc/grpc-js";

/** `commit`: the request is carried out before the answer is lost. */
export type Fault =
  | { kind: "silent"; commit: boolean }
  | { kind: "drop"; commit: boolean }
  | { kind: "late"; ms: number }
  | { kind: "held"; until: Promise<unknown> }
  /** An append is answered without its position. */
  | { kind: "placeless" }
  | { kind: "status"; code: number; details?: string; metadata?: Record<string, string> };

/** `after`: events that still come before it happens. */
export type SubscriptionFault =
  | { kind: "end" | "stuck" | "cut"; after: number }
  | { kind: "status"; after: number; code: number }
  /** The checkpoint of the log's end, before any event, again and again. */
  | { kind: "early-checkpoints"; after: number }
  /** Every event twice. */
  | { kind: "repeat"; after: number };

export type Answer<T> = (error: Partial<StatusObject> | null, value?: T) => void;

/** What a call ends with instead of an answer. */
export function statusOf(fault: {
  code: number;
  details?: string;
  metadata?: Record<string, string>;
}): Partial<StatusObject> {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(fault.metadata ?? {})) metadata.set(key, value);
  return { code: fault.code, details: fault.details ?? "scripted", metadata };
}

/** What calls to a stream that is deleted for good end with. */
export function deletedStream(stream: string) {
  const metadata = { exception: "stream-deleted", "stream-name": stream };
  return { code: 9, details: `Event stream '${stream}' is deleted.`, metadata };
}

/** Does the work and answers, or what the script has instead. */
export type Misbehave = <T>(
  call: "append" | "read",
  work: () => Promise<T>,
  answer: Answer<T>,
) => Promise<void>;

export type Call = "append" | "read" | "subscribe";

export class Script {
  readonly #lines: { append: Fault[]; read: Fault[]; subscribe: SubscriptionFault[] } = {
    append: [],
    read: [],
    subscribe: [],
  };
  readonly counts: Record<Call, number> = { append: 0, read: 0, subscribe: 0 };
  #waiting: { call: Call; count: number; resolve: () => void }[] = [];

  add<C extends Call>(call: C, ...faults: (C extends "subscribe" ? SubscriptionFault : Fault)[]): void {
    (this.#lines[call] as unknown[]).push(...faults);
  }

  take<C extends Call>(call: C): (C extends "subscribe" ? SubscriptionFault : Fault) | undefined {
    this.counts[call] += 1;
    for (const waiter of this.#waiting) if (this.counts[waiter.call] >= waiter.count) waiter.resolve();
    this.#waiting = this.#waiting.filter(({ call: kind, count }) => this.counts[kind] < count);
    return this.#lines[call].shift() as never;
  }

  /** Resolves when that many calls of the kind have come in all. */
  async seen(call: Call, count: number): Promise<void> {
    if (this.counts[call] >= count) return;
    await new Promise<void>((resolve) => this.#waiting.push({ call, count, resolve }));
  }
}
