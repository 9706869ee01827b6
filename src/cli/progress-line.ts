// Progress of a long command on standard error: one line that is rewritten on a terminal, else a line every ten seconds.
import { describeProgress, progressOf } from "../projections/runner/progress.ts";
import { counted } from "./output.ts";

const FIRST_AFTER_MS = 1_000;
const REWRITE_EVERY_MS = 100;
const LINE_EVERY_MS = 10_000;

type Output = { isTTY?: boolean; write(text: string): unknown };

/** Of the whole `of` is the count or `share` 0 to 1, where one is known. */
export type Step = { count: number; of?: number; share?: number; unit: "event" | "record" | "MB" };

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
      const { count, unit } = step;
      const share = shareOf(step);
      if (last?.unit !== unit || (share ?? 0) < (shareOf(last) ?? 0) || count < last.count)
        start = { at: now(), share: share ?? 0, count };
      last = step;
      if (now() - begun < (output.isTTY ? FIRST_AFTER_MS : LINE_EVERY_MS)) return;
      if (now() - shownAt < (output.isTTY ? REWRITE_EVERY_MS : LINE_EVERY_MS)) return;
      if (share === undefined) return say(amount(step));
      if (count === start.count) return say(`${Math.floor(share * 100)} %, ${amount(step)}`);
      const sinceStart = progressOf(count - start.count, now() - start.at, share, start.share);
      say(describeProgress(sinceStart, amount(step)));
    },
    say,
    clear,
  };
}

function shareOf({ count, of, share }: Step): number | undefined {
  return share ?? (of ? count / of : undefined);
}

function amount({ count, of, unit }: Step): string {
  const whole = of === undefined ? "" : `${count.toLocaleString("en")} of `;
  const many = unit === "MB" ? unit : undefined;
  return `${whole}${counted(of ?? count, unit, many)}`;
}
