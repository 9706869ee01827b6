// How much a fault test or a property does: a short form at a desk, the long one in CI, and with TEST_LONG=1.
export const isLong = Boolean(process.env.CI || process.env.TEST_LONG);

/** Runs, clicks or kills. */
export function effort(short: number, long: number): number {
  return isLong ? long : short;
}
