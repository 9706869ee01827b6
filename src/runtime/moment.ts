// Times that people type, for the command line and the console alike, UTC days, and by how much clocks may differ.

/** Tolerated difference between the clocks of several machines. */
export const CLOCK_SKEW_MS = 5 * 60_000;

const FORM = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i;
const ZONED = /(Z|[+-]\d\d:?\d\d)$/i;

export const MOMENT_EXAMPLE = "a date such as 2026-01-31, or a time such as 2026-01-31T12:00Z";

/** ISO 8601; a date is the start of that day, and a time without a zone is UTC, as in a form's `datetime-local`. */
export function parseMoment(text: string): Date | undefined {
  if (!FORM.test(text)) return undefined;
  const at = new Date(text.includes("T") && !ZONED.test(text) ? `${text}Z` : text);
  return Number.isNaN(at.getTime()) || !isOfCalendar(text.slice(0, "2026-01-31".length)) ? undefined : at;
}

/** Date takes 2026-02-31 for the third of March. */
function isOfCalendar(date: string): boolean {
  const day = new Date(date);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
}

/** YYYY-MM-DD of the UTC day. */
export function utcDate(at: Date): string {
  return at.toISOString().slice(0, 10);
}
