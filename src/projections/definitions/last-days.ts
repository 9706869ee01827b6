// Clicks of people on each of a link's last UTC days, for the small chart in lists of links.
export const LAST_DAYS = 14;
const DAY_MS = 86_400_000;

/**
 * Counts people's hits in place. `counts`: of the day `latest`, then of each day before it. Days are YYYY-MM-DD; a later one
 * moves the counts on, also with no people.
 */
export function countDay(counts: number[], latest: string, day: string, people: number): void {
  const ahead = day === latest ? 0 : daysBetween(latest, day);
  if (ahead > 0) {
    counts.unshift(...Array<number>(Math.min(ahead, LAST_DAYS)).fill(0));
    counts.splice(LAST_DAYS);
  }
  const place = Math.max(0, -ahead);
  if (people > 0 && place < LAST_DAYS) {
    while (counts.length <= place) counts.push(0);
    counts[place] = (counts[place] ?? 0) + people;
  }
  // So that they don't depend on the order of the hits.
  while (counts.at(-1) === 0) counts.pop();
}

/** The counts of the 14 days that end with `today`, oldest first. */
export function lastDaysUntil(today: string, counts: readonly number[], latest: string): number[] {
  const quiet = daysBetween(latest, today);
  return Array.from({ length: LAST_DAYS }, (_, n) => counts[LAST_DAYS - 1 - n - quiet] ?? 0);
}

function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS;
}
