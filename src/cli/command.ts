// A command as a row of a table: what it takes, what it does, and how people see the answer; --json comes from here.
import { Argument, type Command, Option } from "commander";
import { type Answer, type Json, runCommand, type Session } from "./session.ts";

/** Which stores are opened, and whether they are written to: one of session.ts. */
export type Runner = (options: Json, answer: (session: Session) => Promise<Answer>) => Promise<void>;

export type CommandRow = {
  /** With its arguments: `show <account>`; what they are is said in `args`, by their names. */
  name: string;
  about: string;
  args?: Readonly<Record<string, string | Argument>>;
  options?: readonly Option[];
  /** By default one that writes, and catches up the documents before and after. */
  by?: Runner;
  run(session: Session, options: never, ...args: never[]): Promise<Answer>;
  /** The answer for people, where it says more than its members. */
  print?(answer: never): Answer;
};

export function addCommands(group: Command, rows: readonly CommandRow[]): void {
  for (const row of rows) addCommand(group, row);
}

function addCommand(group: Command, { name, about, args = {}, options = [], by, run, print }: CommandRow) {
  const [word = "", ...names] = name.split(" ");
  const command = group.command(word).description(about);
  for (const one of names) {
    const known = args[one.replace(/\W/g, "")];
    command.addArgument(known instanceof Argument ? known : new Argument(one, known));
  }
  for (const one of options) command.addOption(one);
  command.option("--json", "print one JSON document").action(async () => {
    const chosen = command.opts<Json>();
    const given = command.processedArgs;
    await (by ?? runCommand)(chosen, async (session) => {
      const answer = await run(session, chosen as never, ...(given as never[]));
      return print && answer && !chosen.json ? print(answer as never) : answer;
    });
  });
}

export function option(flags: string, about: string, parse?: (text: string) => unknown): Option {
  const made = new Option(flags, about);
  return parse ? made.argParser(parse) : made;
}

export function required(flags: string, about: string, parse?: (text: string) => unknown): Option {
  return option(flags, about, parse).makeOptionMandatory();
}
