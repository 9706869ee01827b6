// A whole number as an argument of commands.
import { InvalidArgumentError } from "commander";

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
