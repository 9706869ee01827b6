// A command as a row of a table: what it takes, what it does, and how people see the answer; --json comes from here.
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { MOMENT_EXAMPLE, parseMoment } from "../runtime/moment.ts";
import { type Printable, print, type Terminal } from "./output.ts";
import { type Answer, type Runner, runCommand, type Session } from "./session.ts";
import { Work } from "./work.ts";

export type CommandRow = {
  /** With its arguments: `show <account>`; what they are is said in `args`, by their names. */
  name: string;
  about: string;
  /** Below the help. */
  remark?: string;
  args?: Readonly<Record<string, string | Argument>>;
  options?: readonly Option[];
  /** False where there is no answer to print. */
  json?: false;
  /** What it works on; by default it writes, and documents are caught up before and after. */
  by?: Runner;
  /** What --json prints. */
  run(session: Session, options: never, ...args: never[]): Promise<Answer>;
  /** The answer for people, where it says more than its members. */
  print?(answer: never): Printable | string;
  /** Where an answer may be bad news; 0 by default. */
  exitCode?(answer: never): number;
};

/** Commands that begin with the same word. */
export type CommandGroup = { name: string; about: string; rows: readonly CommandRow[] };

export function addCommand(
  parent: Command,
  row: CommandRow,
  terminal: Terminal,
  end: (code: number) => void,
) {
  const { name, about, remark, args = {}, by = runCommand } = row;
  const [word = "", ...names] = name.split(" ");
  const command = parent.command(word).description(about);
  if (remark) command.addHelpText("after", `\n${remark}`);
  for (const one of names) {
    const known = args[one.replace(/\W/g, "")];
    command.addArgument(known instanceof Argument ? known : new Argument(one, known));
  }
  for (const one of row.options ?? []) command.addOption(one);
  if (row.json !== false) command.option("--json", "print one JSON document");
  command.action(async () => {
    const chosen = command.opts<Record<string, unknown> & { json?: boolean }>();
    const work = new Work(terminal, chosen);
    const run = (session: Session) =>
      row.run(session, chosen as never, ...(command.processedArgs as never[]));
    const show = (answer: Answer) => {
      work.endLine();
      if (answer === undefined) return;
      const shown = chosen.json ? answer : (row.print?.(answer as never) ?? answer);
      print(shown, chosen, terminal.stdout);
      end(row.exitCode?.(answer as never) ?? 0);
    };
    await by({ terminal, work, options: chosen }, run, show).finally(() => work.endLine());
  });
}

export function option(flags: string, about: string, parse?: (text: string) => unknown): Option {
  const made = new Option(flags, about);
  return parse ? made.argParser(parse) : made;
}

export function required(flags: string, about: string, parse?: (text: string) => unknown): Option {
  return option(flags, about, parse).makeOptionMandatory();
}

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
