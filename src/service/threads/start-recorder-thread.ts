// Starts the recorder thread.
import { Worker } from "node:worker_threads";
import type { Config } from "../../config/config.ts";
import type { StartRecorderThread } from "../../redirect/clicks/recorder-thread.ts";
import type { RecorderThreadData } from "./recorder-thread.ts";

/** Starts recorder-thread.ts. `writer`: as in ClickWriterDeps, new for each process. */
export function recorderThreadStarter(config: Config, writer: string): StartRecorderThread {
  return (revisions) => {
    const workerData: RecorderThreadData = { config, writer, revisions };
    return new Worker(new URL("./recorder-thread.ts", import.meta.url), {
      name: "recorder",
      workerData,
    });
  };
}
