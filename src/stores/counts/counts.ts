// The port for counts that end by themselves and that all processes of a service share: windows of rate limits, visits of
// links with a limit, open streams.

/** `endsAt`: milliseconds since the epoch, from when on nothing is counted. */
export type Count = { used: number; endsAt: number };

export type Counting = {
  /** One more, unless `most` are counted; none, to look only; or one back. */
  add: 1 | 0 | -1;
  most: number;
  /** A count that begins ends so long after now; one that `isProlonged`, too, when the step is granted. */
  lastsMs: number;
  isProlonged?: boolean;
  /** What is counted at least. Undefined where that is not known: a count that is not there does not begin then. */
  atLeast: number | undefined;
};

/** `granted`: fewer than `most` were counted before, or one was given back. */
export type Counted = Count & { granted: boolean };

export interface Counts {
  /**
   * One atomic step. `name`: kind and id, such as `key 0190...`; kinds are constants of the code. `now`: milliseconds since
   * the epoch by the caller's clock. Undefined, and nothing has changed, where the count does not begin.
   * @throws CoordinationUnavailable
   */
  count(name: string, now: number, counting: Counting): Promise<Counted | undefined>;
  /** Why some count anew, or can't be counted. */
  readonly problem?: string | undefined;
  close(): Promise<void>;
}

/** What becomes of a count. A clock that was set back makes none last longer than `lastsMs`. */
export function counted(kept: Count | undefined, now: number, counting: Counting): Counted | undefined {
  const { add, most, lastsMs, isProlonged = false, atLeast } = counting;
  const current = kept && kept.endsAt > now ? kept : undefined;
  if (!current && atLeast === undefined) return undefined;
  const before = Math.max(current?.used ?? 0, atLeast ?? 0);
  const granted = before < most || add < 0;
  const latest = now + lastsMs;
  return {
    granted,
    used: granted ? Math.max(0, before + add) : before,
    endsAt: current && !(isProlonged && granted) ? Math.min(current.endsAt, latest) : latest,
  };
}

/** Whether it must be written: looking alone begins none, unless it `isProlonged`. */
export function hasChanged(
  kept: Count | undefined,
  { used, endsAt }: Count,
  now: number,
  { isProlonged = false }: Counting,
): boolean {
  if (!kept || kept.endsAt <= now) return used > 0 || isProlonged;
  return used !== kept.used || endsAt !== kept.endsAt;
}
