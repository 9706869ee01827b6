// Progress of a long command for people: one line that is written over on a terminal, else a line now and then.
import type { Progress } from "../projections/rebuild.ts";

const EVERY_MS = 5_000;

type Output = { isTTY?: boolean; write(text: string): unknown };

type ProgressLine<T> = { show(progress: T): void; end(): void };

export function progressLine(output: Output): ProgressLine<Progress> {
  return line(output, describe, ({ done }) => done === 1);
}

/** For work whose end is not known. */
export function countLine(output: Output): ProgressLine<number> {
  return line(
    output,
    (events) => `${events} events`,
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

function describe({ events, eventsPerSecond, done, secondsLeft }: Progress): string {
  const left = secondsLeft === undefined || done === 1 ? "" : `, about ${duration(secondsLeft)} left`;
  return `${Math.floor(done * 100)} %, ${events} events, ${eventsPerSecond}/s${left}`;
}

function duration(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
