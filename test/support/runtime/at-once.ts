// "At once" without a clock: nothing was waited for, neither time nor the network, however slow the machine is.
import { setImmediate as nextTurn } from "node:timers/promises";

const TURNS = 20;

/** Whether the work settles within a few turns of the event loop. */
export async function settlesAtOnce(work: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settled = () => {
    isSettled = true;
  };
  work.then(settled, settled);
  for (let turn = 0; turn < TURNS && !isSettled; turn++) await nextTurn();
  return isSettled;
}
