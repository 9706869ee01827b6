// A date or time as an argument of commands.
import { InvalidArgumentError } from "commander";
import { MOMENT_EXAMPLE, parseMoment } from "../runtime/moment.ts";

/** @throws InvalidArgumentError */
export function timeArgument(text: string): Date {
  const at = parseMoment(text);
  if (at) return at;
  throw new InvalidArgumentError(`It must be ${MOMENT_EXAMPLE}.`);
}
