// A command as a row of a table: what it takes, what it does, and how people see the answer; --json comes from here.
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { MOMENT_EXAMPLE, parseMoment } from "../runtime/moment.ts";
import { ownFiles } from "./files.ts";
import { ACCOUNT, type Named } from "./named.ts";
import { forPeople, type Printable } from "./output.ts";
import { type Answer, asChange, type Call, type Runner, type Served, type Session } from "./session.ts";
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
  /** Where it runs; by default in the service, and it changes something. */
  by?: Runner;
  /** What --json prints. */
  run(session: Session, options: never, ...args: never[]): Promise<Answer>;
  /** The answer for people, where it says more than its members; in lines of so many columns. */
  print?(answer: never, width?: number): Printable | string;
  /** Where an answer may be bad news; 0 by default. */
  exitCode?(answer: never): number;
};

/** Where the command was given, and in the service what it runs on. */
type Place = Pick<Call, "args" | "terminal" | "end"> & { open: (() => Promise<Served>) | undefined };

export function addCommand(parent: Command, row: CommandRow, { args: typed, terminal, open, end }: Place) {
  const { name, about, remark, args = {}, options = [], byAccount, by = asChange } = row;
  const [word = "", ...operands] = name.split(" ");
  const command = parent.command(word).description(about);
  if (remark) command.addHelpText("after", `\n${remark}`);
  const meanings = operands.map((operand) => args[operand.replace(/[<>[\].]/g, "")]);
  for (const [n, meaning] of meanings.entries()) {
    const help = typeof meaning === "object" && "about" in meaning ? meaning.about : meaning;
    command.addArgument(help instanceof Argument ? help : new Argument(operands[n] as string, help));
  }
  if (byAccount) command.addOption(required("--account <account>", ACCOUNT.about));
  for (const option of options) command.addOption(option);
  if (row.json !== false) command.option("--json", "print one JSON document");

  const find = async (session: Session, meaning: string | Argument | Named | undefined, value: unknown) =>
    typeof meaning === "object" && "find" in meaning ? await meaning.find(session, value as string) : value;

  command.action(async () => {
    const options = command.opts<Record<string, unknown> & { json?: boolean }>();
    const work = workOn(terminal, options);
    const run = async (session: Session) => {
      if (byAccount) options.account = await find(session, ACCOUNT, options.account);
      const values = command.processedArgs.map((value, n) => find(session, meanings[n], value));
      return await row.run(session, options as never, ...((await Promise.all(values)) as never[]));
    };
    let answer: Answer;
    try {
      const service = await open?.();
      const files = service?.files ?? ownFiles;
      const call = { args: typed, operands: command.args, terminal, work, options, files, service, end };
      answer = await by(call, run);
    } finally {
      work.endLine();
    }
    if (answer === undefined) return;
    const { columns } = terminal.stdout;
    const shown = () => forPeople(row.print?.(answer as never, columns) ?? answer, columns);
    const printed = options.json ? JSON.stringify(answer) : shown();
    terminal.stdout.write(`${printed}\n`);
    end(row.exitCode?.(answer as never) ?? 0);
  });
}

export function option(flags: string, about: string, parse?: (text: string) => unknown): Option {
  const plain = new Option(flags, about);
  return parse ? plain.argParser(parse) : plain;
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
