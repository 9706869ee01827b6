// Starts and supervises the projector thread, so that folding doesn't block the event loop that answers redirects.
import type { Config } from "../../config/config.ts";
import type { GroupStatus } from "../../projections/builds/status.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { keepThread } from "../../runtime/threads/keep-thread.ts";
import type { FromProjector, ProjectorThreadData, ToProjector } from "./projector-messages.ts";

export type Projector = {
  /** Resolves when the thread has finished its commit and ended; after 90 % of `withinMs` it is terminated. */
  stop(withinMs: number): Promise<void>;
  /** The thread's present status; undefined when it does not answer within half a second, as during a long commit. */
  status(): Promise<GroupStatus[] | undefined>;
};

/** Runs until `stop`; a thread that dies is restarted with backoff. */
export function startProjector(config: Config, log: BasicLogger): Projector {
  let last: GroupStatus[] = [];
  const thread = keepThread<FromProjector, ToProjector>({
    file: new URL("./projector-thread.ts", import.meta.url),
    name: "projector",
    data: { config } satisfies ProjectorThreadData,
    log,
    onMessage: ({ projections }) => {
      last = projections;
    },
  });
  return {
    stop: (withinMs) => thread.stop({ type: "stop" }, withinMs),
    async status() {
      return (await thread.request({ type: "status" })) ? last : undefined;
    },
  };
}
