// Runs a file of the benchmarks as a child process that is driven by messages, so that it takes no time from what is
// measured.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** `file` is named from `bench/`; `request` sends a message and resolves with the next one from the child. */
export function startChild(file: string) {
  const child = fork(fileURLToPath(new URL(`../${file}`, import.meta.url)), { execArgv: [] });
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`${file} ended with ${code}`);
  });
  failed.catch(() => {});
  const answer = async <T>(): Promise<T> => {
    const [message] = (await Promise.race([once(child, "message"), failed])) as unknown[];
    return message as T;
  };
  return {
    pid: child.pid ?? 0,
    answer,
    request: <T>(order: object): Promise<T> => {
      child.send(order);
      return answer<T>();
    },
    stop: async () => {
      const gone = once(child, "exit");
      child.disconnect();
      await gone;
    },
  };
}
