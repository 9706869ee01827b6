// The thread's side: calls methods of the objects it serves and answers with what they resolve to or yield.
import type { MessagePort } from "node:worker_threads";
import { errorFields } from "../error-fields.ts";
import { encoded, type MethodCall, type Outcome, type ToThread } from "./thread-messages.ts";

type Method = (...args: unknown[]) => unknown;
type Stream = { generator: AsyncGenerator; cancel: AbortController };

/**
 * Serves until its client closes it. Results have to be text or plain JSON. A method that streams is an async
 * generator function; its last argument is an AbortSignal, aborted when the client leaves the stream.
 */
export function serveThread(
  port: MessagePort,
  objects: Readonly<Record<string, object>>,
  close: () => Promise<unknown>,
): void {
  const streams = new Map<number, Stream>();
  const inFlight = new Set<Promise<void>>();

  const invoke = ({ object, method, args }: MethodCall, ...more: unknown[]) => {
    const target = objects[object] as Record<string, Method> | undefined;
    if (typeof target?.[method] !== "function") throw new Error(`There is no ${object}.${method} here`);
    return target[method](...args, ...more);
  };
  const open = (id: number, call: MethodCall) => {
    const cancel = new AbortController();
    streams.set(id, { generator: invoke(call, cancel.signal) as AsyncGenerator, cancel });
  };
  const next = async (id: number): Promise<Outcome> => {
    const { done, value } = (await streams.get(id)?.generator.next()) ?? { done: true, value: undefined };
    if (done) streams.delete(id);
    return { ...(done && { done }), ...encoded(value) };
  };
  const leave = (id: number) => {
    const stream = streams.get(id);
    streams.delete(id);
    stream?.cancel.abort();
    stream?.generator.return(undefined).catch(() => undefined);
  };
  const answer = async (id: number, work: () => Promise<Outcome>) => {
    const outcome = await work().catch((error: unknown) => ({ failure: errorFields(error) }));
    port.postMessage({ id, ...outcome });
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
        for (const id of streams.keys()) leave(id);
        return Promise.all(inFlight)
          .then(() => answer(message.id, async () => encoded(await close())))
          .finally(() => port.close());
    }
  };

  port.on("message", (message: ToThread) => {
    if (message.op === "cancel") return leave(message.stream);
    const performing = perform(message);
    inFlight.add(performing);
    void performing.finally(() => inFlight.delete(performing));
    return undefined;
  });
  port.postMessage({ id: 0, value: undefined });
}
