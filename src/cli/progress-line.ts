// Progress of a long command on standard error: one line that is rewritten on a terminal, else a line every ten seconds.
import { describeProgress, progressOf } from "../projections/runner/progress.ts";
import { counted } from "./output.ts";

const FIRST_AFTER_MS = 1_000;
const REWRITE_EVERY_MS = 100;
const LINE_EVERY_MS = 10_000;

type Output = { isTTY?: boolean; write(text: string): unknown };

/** `share`: 0 to 1, of the whole, where that is known. */
export type Step = { count: number; unit: "event" | "record" | "secret" | "MB"; share?: number | undefined };

export type ProgressLine = { show(step: Step): void; say(text: string): void; clear(): void };

/** Shows nothing of what takes less than a second. */
export function progressLine(output: Output, now: () => number = () => performance.now()): ProgressLine {
  const begun = now();
  let shownAt = Number.NEGATIVE_INFINITY;
  /** Of the present pass: work that reads twice begins again, and some goes on where it once ended. */
  let start = { at: begun, share: 0, count: 0 };
  let last: Step | undefined;
  let isOpen = false;
  const clear = () => {
    if (isOpen) output.write("\r\u001b[K");
    isOpen = false;
  };
  const say = (text: string) => {
    shownAt = now();
    if (output.isTTY) output.write(`\r\u001b[K${text}`);
    else output.write(`${text}\n`);
    isOpen = output.isTTY === true;
  };
  return {
    show(step) {
      const { count, share = 0, unit } = step;
      if (last?.unit !== unit || share < (last.share ?? 0) || count < last.count)
        start = { at: now(), share, count };
      last = step;
      if (now() - begun < (output.isTTY ? FIRST_AFTER_MS : LINE_EVERY_MS)) return;
      if (now() - shownAt < (output.isTTY ? REWRITE_EVERY_MS : LINE_EVERY_MS)) return;
      if (step.share === undefined) return say(amount(step));
      const sinceStart = progressOf(count - start.count, now() - start.at, share, start.share);
      say(describeProgress(sinceStart, amount(step)));
    },
    say,
    clear,
  };
}

function amount({ count, unit }: Step): string {
  return unit === "MB" ? counted(count, unit, unit) : counted(count, unit);
}
