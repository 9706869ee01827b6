// Progress of a long command for people: one line that is written over on a terminal, else a line now and then.
import type { Progress } from "../projections/rebuild.ts";

const EVERY_MS = 5_000;

type Output = { isTTY?: boolean; write(text: string): unknown };

export function progressLine(output: Output): { show(progress: Progress): void; end(): void } {
  let shownAt = Number.NEGATIVE_INFINITY;
  let open = false;
  return {
    show(progress) {
      if (output.isTTY) {
        output.write(`\r\u001b[K${describe(progress)}`);
        open = true;
      } else if (progress.done === 1 || performance.now() - shownAt >= EVERY_MS) {
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
