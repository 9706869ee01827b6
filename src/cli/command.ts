// A command as a row of a table: what it takes, what it does, and how people see the answer; --json comes from here.
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { MOMENT_EXAMPLE, parseMoment } from "../runtime/moment.ts";
import { ownFiles } from "./files.ts";
import { ACCOUNT, type Named } from "./named.ts";
import { forPeople, type Printable } from "./output.ts";
import { type Answer, type Call, type Runner, runCommand, type Served, type Session } from "./session.ts";
import { workOn } from "./work.ts";

export type CommandRow = {
  /** With its arguments: `show <account>`; what they are is said in `args`, by their names. */
  name: string;
  about: string;
  /** Below the help. */
  remark?: string;
  /** Of one that names something in the stores `run` gets what was found. */
  args?: Readonly<Record<string, string | Argument | Named>>;
  options?: readonly Option[];
  /** Needs `--account`; `run` gets the account's id as `options.account`. */
  byAccount?: true;
  /** False where there is no answer to print. */
  json?: false;
  /** What it works on; by default it writes, and documents are caught up before and after. */
  by?: Runner;
  /** What --json prints. */
  run(session: Session, options: never, ...args: never[]): Promise<Answer>;
  /** The answer for people, where it says more than its members; in lines of so many columns. */
  print?(answer: never, width?: number): Printable | string;
  /** Where an answer may be bad news; 0 by default. */
  exitCode?(answer: never): number;
};

/** Where the command runs, and on what. */
type Place = Pick<Call, "args" | "terminal" | "end"> & { open: (() => Promise<Served>) | undefined };

export function addCommand(parent: Command, row: CommandRow, { args: typed, terminal, open, end }: Place) {
  const { name, about, remark, args = {}, options = [], byAccount, by = runCommand } = row;
  const [word = "", ...words] = name.split(" ");
  const command = parent.command(word).description(about);
  if (remark) command.addHelpText("after", `\n${remark}`);
  const known = words.map((one) => args[one.replace(/\W/g, "")]);
  for (const [n, one] of known.entries()) {
    const said = typeof one === "object" && "about" in one ? one.about : one;
    command.addArgument(said instanceof Argument ? said : new Argument(words[n] as string, said));
  }
  if (byAccount) command.addOption(required("--account <account>", ACCOUNT.about));
  for (const one of options) command.addOption(one);
  if (row.json !== false) command.option("--json", "print one JSON document");

  const find = async (session: Session, what: string | Argument | Named | undefined, given: unknown) =>
    typeof what === "object" && "find" in what ? await what.find(session, given as string) : given;

  command.action(async () => {
    const chosen = command.opts<Record<string, unknown> & { json?: boolean }>();
    const work = workOn(terminal, chosen);
    const run = async (session: Session) => {
      if (byAccount) chosen.account = await find(session, ACCOUNT, chosen.account);
      const given = command.processedArgs.map((one, n) => find(session, known[n], one));
      return await row.run(session, chosen as never, ...((await Promise.all(given)) as never[]));
    };
    let answer: Answer;
    try {
      const service = await open?.();
      const files = service?.files ?? ownFiles;
      answer = await by({ args: typed, terminal, work, options: chosen, files, service, end }, run);
    } finally {
      work.endLine();
    }
    if (answer === undefined) return;
    const { columns } = terminal.stdout;
    const shown = () => forPeople(row.print?.(answer as never, columns) ?? answer, columns);
    const printed = chosen.json ? JSON.stringify(answer) : shown();
    terminal.stdout.write(`${printed}\n`);
    end(row.exitCode?.(answer as never) ?? 0);
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
