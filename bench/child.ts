// Runs one of the benchmark's own files as a process that is asked questions by messages.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export type Child = { url: string; stop(): Promise<void> };

/** Starts a file of this folder; `ask` sends a message and waits for the answer. */
export function startChild(file: string) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv: [] });
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`${file} ended with ${code}`);
  });
  failed.catch(() => {});
  const answer = async <T>(): Promise<T> => {
    const [message] = (await Promise.race([once(child, "message"), failed])) as unknown[];
    return message as T;
  };
  return {
    answer,
    /** Sends a message that is not answered. */
    tell: (order: object): void => void child.send(order),
    ask: <T>(question: object): Promise<T> => {
      child.send(question);
      return answer<T>();
    },
    stop: async () => {
      const gone = once(child, "exit");
      child.disconnect();
      await gone;
    },
  };
}
