// Verifies the log in this thread and tells how far it is, so that the HTTP thread can show the progress.
import type { VerifyInThread } from "../../audit/verification-runs.ts";
import { type Trust, verifyLog } from "../../audit/verify-log.ts";
import { pause } from "../../runtime/pause.ts";
import type { TimeSlices } from "../../runtime/threads/time-slices.ts";

type Deps = Pick<Parameters<typeof verifyLog>[0], "eventStore"> & {
  trust: Trust;
  /** They end with the signal. */
  slices: TimeSlices;
};

const REPORT_MS = 250;

/** Yields the number of events so far, a few times a second. */
export async function* verifyInSteps(
  { eventStore, trust, slices }: Deps,
  { noted }: Parameters<VerifyInThread>[0],
  signal: AbortSignal,
): ReturnType<VerifyInThread> {
  let events = 0;
  let isDone = false;
  const onProgress = (sofar: number) => {
    events = sofar;
  };
  const verifying = verifyLog({ eventStore }, { trust, noted, slices, onProgress }).finally(() => {
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
