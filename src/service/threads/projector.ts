// Starts and supervises the projector thread, so that folding doesn't block the event loop that answers redirects.
import type { Config } from "../../config/config.ts";
import type { GroupStatus } from "../../projections/builds/status.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { keepThread } from "../../runtime/threads/keep-thread.ts";
import type { FromProjector, ProjectorThreadData, ToProjector } from "./projector-messages.ts";

export type Projector = {
  /** Resolves when the thread has finished its commit and ended; after 90 % of `withinMs` it is terminated. */
  stop(withinMs: number): Promise<void>;
  /**
   * The thread's present status; undefined when it does not answer within half a second, as during a long commit, or can't
   * read it.
   */
  status(): Promise<GroupStatus[] | undefined>;
  /** Which lease has had no answer for ten seconds, and why. */
  leaseProblem(): string | undefined;
};

/** Runs until `stop`; a thread that dies is restarted with backoff. */
export function startProjector(config: Config, log: BasicLogger): Projector {
  let last: FromProjector = { type: "status", projections: [], leaseProblem: undefined };
  const thread = keepThread<FromProjector, ToProjector>({
    file: new URL("./projector-thread.ts", import.meta.url),
    name: "projector",
    data: { config } satisfies ProjectorThreadData,
    log,
    onMessage: (status) => {
      last = status;
    },
  });
  return {
    stop: (withinMs) => thread.stop({ type: "stop" }, withinMs),
    async status() {
      return (await thread.request({ type: "status" })) ? last.projections : undefined;
    },
    leaseProblem: () => last.leaseProblem,
  };
}
