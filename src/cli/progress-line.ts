// Progress of a long command: one line that is overwritten on a terminal, else a line every EVERY_MS.
import { describeProgress, type Progress } from "../projections/runner/progress.ts";

const EVERY_MS = 5_000;

type Output = { isTTY?: boolean; write(text: string): unknown };

type ProgressLine<T> = { show(progress: T): void; end(): void };

export function progressLine(output: Output): ProgressLine<Progress> {
  return line(output, describeProgress, ({ done }) => done === 1);
}

/** For work whose total is unknown. `unit`: what is counted, such as `events`. */
export function countLine(output: Output, unit = "events"): ProgressLine<number> {
  return line(
    output,
    (done) => `${done} ${unit}`,
    () => false,
  );
}

/** For work that says in words how far it is. */
export function textLine(output: Output): ProgressLine<string> {
  return line(
    output,
    (text) => text,
    () => false,
  );
}

function line<T>(
  output: Output,
  describe: (progress: T) => string,
  isLast: (progress: T) => boolean,
): ProgressLine<T> {
  let shownAt = Number.NEGATIVE_INFINITY;
  let open = false;
  return {
    show(progress) {
      if (output.isTTY) {
        output.write(`\r\u001b[K${describe(progress)}`);
        open = true;
      } else if (isLast(progress) || performance.now() - shownAt >= EVERY_MS) {
        shownAt = performance.now();
        output.write(`${describe(progress)}\n`);
      }
    },
    end() {
      if (open) output.write("\n");
      open = false;
    },
  };
}
