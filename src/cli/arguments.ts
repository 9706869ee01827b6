// Times and whole numbers as arguments of commands.
import { InvalidArgumentError } from "commander";
import { MOMENT_EXAMPLE, parseMoment } from "../runtime/moment.ts";

/** @throws InvalidArgumentError */
export function timeArgument(text: string): Date {
  const at = parseMoment(text);
  if (at) return at;
  throw new InvalidArgumentError(`It must be ${MOMENT_EXAMPLE}.`);
}

/** For numbers from `least` on, of at most so many digits. The function throws InvalidArgumentError. */
export function wholeFrom(least: number, digits = 15): (text: string) => number {
  const form = new RegExp(`^-?\\d{1,${digits}}$`);
  return (text) => {
    if (form.test(text) && Number(text) >= least) return Number(text);
    throw new InvalidArgumentError(
      `It must be a whole number from ${least} on, of at most ${digits} digits.`,
    );
  };
}
