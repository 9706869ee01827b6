// Progress and estimated time left of a long fold, in one form for the log, the health answer and the command line.
/** `done`: 0 to 1; `secondsLeft` is undefined until it can be estimated. */
export type Progress = { events: number; eventsPerSecond: number; done: number; secondsLeft?: number };

/** Estimates from `events` folded in `ms`, while the folded share of the log rose from `from` to `done`. */
export function progressOf(events: number, ms: number, done: number, from = 0): Progress {
  const seconds = ms / 1000;
  const progress = { events, eventsPerSecond: seconds > 0 ? Math.round(events / seconds) : 0, done };
  if (done <= from) return progress;
  return { ...progress, secondsLeft: Math.round((seconds / (done - from)) * (1 - done)) };
}

/** Such as `42 %, 63000 events, 4200/s, about 20 s left`. `amount`: of what else is counted. */
export function describeProgress(
  { events, eventsPerSecond, done, secondsLeft }: Progress,
  amount = `${events} events`,
): string {
  const left = secondsLeft === undefined || done === 1 ? "" : `, about ${duration(secondsLeft)} left`;
  return `${Math.floor(done * 100)} %, ${amount}, ${eventsPerSecond}/s${left}`;
}

function duration(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
