// A date or time as an argument of commands.
import { InvalidArgumentError } from "commander";

/** A date is the start of that day, UTC. @throws InvalidArgumentError */
export function timeArgument(text: string): Date {
  const at = new Date(/^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text) ? text : Number.NaN);
  if (!Number.isNaN(at.getTime())) return at;
  throw new InvalidArgumentError(
    "It must be a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z.",
  );
}
