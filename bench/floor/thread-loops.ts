// What the threads of both bare programs do alike: one appends whatever has come, the other reads what was appended.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { ThreadData } from "./start-thread.ts";

const port = parentPort as MessagePort;

export const { folder, server } = workerData as ThreadData;

/** `append`: gets all messages that wait, and gives the number of clicks or links in them, which is reported. */
export function appendMessages(append: (messages: string[][]) => number | Promise<number>): void {
  let waiting: string[][] = [];
  let isAppending = false;
  port.on("message", async (first: string[]) => {
    waiting.push(first);
    if (isAppending) return;
    isAppending = true;
    while (waiting.length > 0) {
      for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port))
        waiting.push(next.message as string[]);
      const messages = waiting;
      waiting = [];
      port.postMessage(await append(messages));
    }
    isAppending = false;
  });
}

/** `read`: returns whether there may be more, and is called again at once then, else after `everyMs`. */
export function keepReading(read: () => boolean, everyMs: number): void {
  const next = () => void (read() ? setImmediate(next) : setTimeout(next, everyMs));
  next();
}

/** Clicks or links that were committed. */
export function reportCommitted(count: number): void {
  port.postMessage(count);
}
