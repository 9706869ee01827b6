// Questions of auditors and operators as commands: linkledger audit find | event | state | clicks | seals, and explain.

import { Argument, InvalidArgumentError, type Option } from "commander";
import type { z } from "zod";
import { sealKeysFrom } from "../../audit/seals/seal-keys.ts";
import { OUR_WORDS } from "../../commands/issue-sentence.ts";
import type { FindMatching } from "../../commands/withdrawals/decide-withdrawal.ts";
import { type ExplainedStep, explainLink, type LinkExplanation } from "../../queries/audit/explain-link.ts";
import { findClicks } from "../../queries/audit/find-clicks.ts";
import { matchingClicks } from "../../queries/audit/matching-clicks.ts";
import { type Asked, type Question, questions } from "../../queries/audit/questions.ts";
import { type CommandRow, option, wholeFrom } from "../command.ts";
import { LINK, linkNamed } from "../named.ts";
import { type Printable, text, withVerdict } from "../output.ts";
import { asQuery, inService, type Session } from "../session.ts";

const { events, event, state, clicks, seals } = questions;

export const auditQuestions: readonly CommandRow[] = [
  questionCommand(events, {
    name: "find",
    about: "events of accounts, domains, links and the operator, newest first; options can be combined",
    by: asQuery,
  }),
  questionCommand(event, {
    name: "event <stream> <revision>",
    about: "one event, with what its fields mean",
  }),
  questionCommand(state, {
    name: "state <stream>",
    about: "what the events of a stream come to as of a revision, and the difference to another",
  }),
  questionCommand(
    {
      ...clicks,
      async answer(deps: Parameters<typeof clicks.answer>[0], search) {
        const page = await clicks.answer(deps, search);
        const rest = `there may be more: go on with --after ${page.next}`;
        return { ...page, rest: page.next === null ? "no more" : rest };
      },
    },
    {
      name: "clicks",
      about:
        "hits (clicks and previews) as they were recorded: all of a link or account, or of the last hour",
    },
  ),
  questionCommand(seals, {
    name: "seals",
    about: "the seals, newest first, and whether each can be trusted",
  }),
];

export const explainCommand: CommandRow = {
  name: "explain <link>",
  about: "one link: who made it, what was changed by whom, its hits, and what proves that",
  args: { link: LINK },
  options: [option("--verify", "compare its seals with the log, and count its hits in the log; reads much")],
  by: inService,
  run: (session, { verify = false }: { verify?: boolean }, name: string) =>
    explainLink(auditDeps(session), linkNamed(session, name), { verify }),
  print: explainedForPeople,
  exitCode: ({ verdict }: LinkExplanation) => (verdict === "problem" ? 1 : 0),
};

/** A command that prints the answer; arguments that its name doesn't have are options. */
export function questionCommand<Args extends z.ZodObject, Answer extends object>(
  { args, answer }: Question<ReturnType<typeof auditDeps>, Args, Answer>,
  row: Pick<CommandRow, "name" | "about" | "by">,
): CommandRow {
  const request = askedBy(args, row.name);
  return {
    by: inService,
    ...row,
    args: request.args,
    options: request.options,
    run: async (session, options: Record<string, unknown>, ...operands: unknown[]) =>
      (await answer(auditDeps(session), request.from(options, operands))) as Printable,
  };
}

/** How a command takes the arguments of a question, each parsed as the console parses its field. */
export function askedBy<Args extends z.ZodObject>({ shape }: Args, command: string) {
  const operandNames = [...command.matchAll(/<(\w+)>/g)].map(([, name = ""]) => name);
  const args = operandNames.map((name) => {
    const schema = shape[name] as z.ZodType;
    const { example } = (schema.meta() ?? {}) as Asked;
    return [name, new Argument(`<${name}>`, example).argParser(parsedBy(schema))] as const;
  });
  const options = Object.entries<z.ZodType>(shape)
    .filter(([name]) => !operandNames.includes(name))
    .map(([name, schema]) => [name, optionOf(name, schema)] as const);
  return {
    args: Object.fromEntries(args),
    options: options.map(([, option]) => option),
    from(values: Record<string, unknown>, operands: readonly unknown[]): z.infer<Args> {
      const fromOptions = options.map(([name, option]) => [name, values[option.attributeName()]]);
      return Object.fromEntries([...fromOptions, ...operandNames.map((name, n) => [name, operands[n]])]);
    },
  };
}

/** One without which the question can't be asked must be given. */
function optionOf(name: string, schema: z.ZodType): Option {
  const { label, example, about = `${label}: ${example}` } = (schema.meta() ?? {}) as Asked;
  const word = name.replace(/_id$/, "").replaceAll("_", "-");
  const { success, data } = schema.safeParse(undefined);
  // A page of the console is limited, an answer of a command is not.
  const parsed = option(`--${word} <value>`, about, name === "limit" ? wholeFrom(1) : parsedBy(schema));
  return success ? parsed.default(data) : parsed.makeOptionMandatory();
}

/** The function throws InvalidArgumentError. */
function parsedBy(schema: z.ZodType): (text: string) => unknown {
  return (text) => {
    const { success, data, error } = schema.safeParse(text, OUR_WORDS);
    if (success) return data;
    const why = error.issues.map(({ message }) => message).join("; ");
    throw new InvalidArgumentError(why.startsWith("must be") ? `It ${why}.` : why);
  };
}

/** What questions are answered from. */
export function auditDeps({ backend, deps, config }: Session) {
  return {
    ...deps,
    foldStore: backend.foldStore,
    deliveryQueue: backend.deliveryQueue,
    findClicks: (search: Parameters<typeof findClicks>[1]) => findClicks(backend, search),
    matchingClicks: ((...search) => matchingClicks(deps, ...search)) as FindMatching,
    get sealKeys() {
      return sealKeysFrom(config).map(({ publicKey }) => publicKey);
    },
  };
}

function explainedForPeople({ history, owner, ...explanation }: LinkExplanation, width?: number) {
  const { link, short_url, destination, status, created_at, created_by, ...rest } = explanation;
  const of = { link, short_url, destination, status, owner: owner.email ?? owner.account_id };
  return withVerdict({ ...of, created_at, created_by, history: history.map(stepText), ...rest }, width);
}

/** Such as `2026-03-01 10:00:00 UTC  a@example.com changed the destination from ... to .... (LinkRetargeted at position 17)`. */
function stepText({ recorded_at, type, position, sentence, error }: ExplainedStep): string {
  const what = error === null ? sentence : `${sentence.slice(0, -1)}: ${error}`;
  return `${text(recorded_at)}  ${what} (${type || "unreadable"} at position ${position})`;
}
