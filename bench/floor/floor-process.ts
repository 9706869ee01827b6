// A bare program of the floor as a process of its own.
import type { Side } from "../compare/side.ts";
import { startChild } from "../load/child.ts";

/** Clicks or links: those answered, those in the log, and those in the documents. */
export type Progress = { answered: number; appended: number; counted: number };

export type FloorProcess = Side & {
  progress(): Promise<Progress>;
  /** Seconds until all that was answered is in the log and in the documents. @throws after five minutes */
  settle(): Promise<number>;
  stop(): Promise<void>;
};

/** As of `npm start`, without what saves memory there: a limit of the old generation, and a young one of 8 MB. */
const NODE_FLAGS = ["--max-semi-space-size=16", "--no-parallel-scavenge"];
const LOOK_EVERY_MS = 20;
const TIMEOUT_MS = 300_000;

/** `file`: named from `bench/`; it sends its URL, and answers each message with its progress. */
export async function startFloor(
  file: `floor/${string}.ts`,
  ...args: readonly string[]
): Promise<FloorProcess> {
  const child = startChild(file, { arguments: args, flags: NODE_FLAGS });
  const { url } = await child.answer<{ url: string }>();
  const progress = () => child.request<Progress>({});
  return {
    ...{ url, pid: child.pid, progress, stop: child.stop },
    async settle() {
      const started = performance.now();
      for (;;) {
        const { answered, appended, counted } = await progress();
        const seconds = (performance.now() - started) / 1_000;
        if (answered === appended && appended === counted) return seconds;
        if (seconds * 1_000 > TIMEOUT_MS)
          throw new Error(`answered ${answered}, in the log ${appended}, in the documents ${counted}`);
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
    },
  };
}
