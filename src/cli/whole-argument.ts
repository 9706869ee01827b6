// A whole number as an argument of commands.
import { InvalidArgumentError } from "commander";

/** For numbers from `least` on. The function throws InvalidArgumentError. */
export function wholeFrom(least: number): (text: string) => number {
  return (text) => {
    if (/^-?\d{1,15}$/.test(text) && Number(text) >= least) return Number(text);
    throw new InvalidArgumentError(`It must be a number from ${least} on.`);
  };
}
