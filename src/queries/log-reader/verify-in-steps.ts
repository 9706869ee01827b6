// Verifies the log in this thread and tells how far it is, so that the HTTP thread can show the progress.
import type { VerifyInThread } from "../../audit/verification-runs.ts";
import { type Trust, verifyLog } from "../../audit/verify-log.ts";
import { pause } from "../../runtime/pause.ts";
import type { TimeSlices } from "../../runtime/threads/time-slices.ts";

type Deps = Pick<Parameters<typeof verifyLog>[0], "eventStore" | "structureProblems"> & {
  trust: Trust;
  /** They end with the signal. */
  slices: TimeSlices;
};

const REPORT_MS = 250;

/** Yields the number of events so far, a few times a second. */
export async function* verifyInSteps(
  { trust, slices, ...deps }: Deps,
  { noted }: Parameters<VerifyInThread>[0],
  signal: AbortSignal,
): ReturnType<VerifyInThread> {
  let events = 0;
  let isDone = false;
  const verifying = verifyLog(
    { ...deps, noted: { get: async () => noted } },
    {
      trust,
      slices,
      onProgress(sofar) {
        events = sofar;
      },
    },
  ).finally(() => {
    isDone = true;
  });
  // Awaited below; without this an early failure would be an unhandled rejection.
  verifying.catch(() => undefined);
  while (!isDone) {
    await Promise.race([pause(REPORT_MS, signal), verifying.catch(() => undefined)]);
    if (!isDone) yield events;
  }
  return await verifying;
}
