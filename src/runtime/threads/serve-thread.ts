// The worker thread's side of thread-client.ts: calls methods of the served objects and posts their results.
import type { MessagePort } from "node:worker_threads";
import { errorFields } from "../error-fields.ts";
import {
  encoded,
  type MethodCall,
  type Outcome,
  type ThreadAnswer,
  type ToThread,
} from "./thread-messages.ts";

type Method = (...args: unknown[]) => unknown;
type Stream = { generator: AsyncGenerator; cancelled: AbortController };

/**
 * Serves until the client's `close`. Results must be text or plain JSON. A streaming method is an async generator
 * function; its last argument is an AbortSignal, aborted when the client ends the stream.
 */
export function serveThread(
  port: MessagePort,
  objects: Readonly<Record<string, object>>,
  close: () => Promise<unknown>,
): void {
  const streams = new Map<number, Stream>();
  const inFlight = new Set<Promise<void>>();
  let answers: ThreadAnswer[] = [];

  const invoke = ({ object, method, args }: MethodCall, ...more: unknown[]) => {
    const target = objects[object] as Record<string, Method> | undefined;
    if (typeof target?.[method] !== "function") throw new Error(`There is no ${object}.${method} here`);
    return target[method](...args, ...more);
  };
  const open = (id: number, call: MethodCall) => {
    const cancelled = new AbortController();
    streams.set(id, { generator: invoke(call, cancelled.signal) as AsyncGenerator, cancelled });
  };
  const next = async (id: number): Promise<Outcome> => {
    const { done, value } = (await streams.get(id)?.generator.next()) ?? { done: true, value: undefined };
    if (done) streams.delete(id);
    return { ...(done && { done }), ...encoded(value) };
  };
  const cancel = (id: number) => {
    const stream = streams.get(id);
    streams.delete(id);
    stream?.cancelled.abort();
    stream?.generator.return(undefined).catch(() => undefined);
  };
  // Ticks run when no promise is left to settle: what the requests of one message get at once is one message too.
  const post = (message: ThreadAnswer) => {
    if (answers.push(message) === 1) process.nextTick(postAnswers);
  };
  const postAnswers = () => {
    port.postMessage(answers);
    answers = [];
  };
  const answer = async (id: number, work: () => Promise<Outcome>) => {
    const outcome = await work().catch((error: unknown) => ({ failure: errorFields(error) }));
    post({ id, ...outcome });
  };
  const perform = (message: Exclude<ToThread, { op: "cancel" }>): Promise<void> => {
    switch (message.op) {
      case "call":
        return answer(message.id, async () => encoded(await invoke(message)));
      case "open":
        return answer(message.id, async () => encoded(open(message.id, message)));
      case "next":
        return answer(message.id, () => next(message.stream));
      case "close":
        for (const id of streams.keys()) cancel(id);
        return Promise.all(inFlight)
          .then(() => answer(message.id, async () => encoded(await close())))
          .finally(() => process.nextTick(() => port.close()));
    }
  };

  const receive = (message: ToThread) => {
    if (message.op === "cancel") return cancel(message.stream);
    const performing = perform(message);
    inFlight.add(performing);
    void performing.finally(() => inFlight.delete(performing));
    return undefined;
  };
  port.on("message", (messages: ToThread[]) => {
    for (const message of messages) receive(message);
  });
  post({ id: 0, value: undefined });
}
