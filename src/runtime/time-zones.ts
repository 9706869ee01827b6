// Which names are time zones: all that Intl knows, aliases such as Asia/Kolkata and Etc/UTC among them, which it doesn't list.

/** What Intl takes for a zone beside names, but for multiples of a quarter-hour, by which hits are counted. */
const UNEVEN_OFFSET = /^[+-]\d\d:?(?!00|15|30|45)\d\d$/;

export function isTimeZone(name: string): boolean {
  if (UNEVEN_OFFSET.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
