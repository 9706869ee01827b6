// Starts and watches the projector thread, so that folding never holds up a redirect.
import type { Config } from "../../config.ts";
import { keepThread } from "../../runtime/threads/keep-thread.ts";
import type { FromProjector, ProjectorThreadData, ToProjector } from "./projector-messages.ts";
import type { RunnerLog } from "./runner.ts";
import type { ProjectionStatus } from "./status.ts";

export type Projector = {
  /** Resolves when the thread has committed what it was at and is gone. */
  stop(withinMs: number): Promise<void>;
  /** Fresh from the thread; what it last told when it does not answer within a second. */
  status(): Promise<ProjectionStatus[]>;
};

/**
 * Runs until `stop`; a thread that dies is started again with backoff. `yields`: at a low priority, because redirects
 * are answered in the same process.
 */
export function startProjector(config: Config, log: RunnerLog, yields = true): Projector {
  let last: ProjectionStatus[] = [];
  const thread = keepThread<FromProjector, ToProjector>({
    file: new URL("./projector-thread.ts", import.meta.url),
    name: "projector",
    data: { config, yields } satisfies ProjectorThreadData,
    log,
    heard: ({ projections }) => {
      last = projections;
    },
  });
  return {
    stop: (withinMs) => thread.stop({ type: "stop" }, withinMs),
    async status() {
      await thread.ask({ type: "status" });
      return last;
    },
  };
}
