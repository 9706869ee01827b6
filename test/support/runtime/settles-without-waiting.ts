// Checks without a clock that a promise waits for neither a timer nor the network, so that slow machines don't matter.
import { setImmediate as nextTurn } from "node:timers/promises";

const TURNS = 20;

/** Whether the work settles within a few turns of the event loop. */
export async function settlesWithoutWaiting(work: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settled = () => {
    isSettled = true;
  };
  work.then(settled, settled);
  for (let turn = 0; turn < TURNS && !isSettled; turn++) await nextTurn();
  return isSettled;
}
