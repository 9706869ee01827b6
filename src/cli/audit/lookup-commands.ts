// linkledger audit find | event | state | clicks | seals: what the console shows, on the command line.
import { Argument, InvalidArgumentError } from "commander";
import type { z } from "zod";
import { sealKeysFrom } from "../../audit/seals/seal-keys.ts";
import { eventIndex } from "../../projections/definitions/event-index.ts";
import { explainedEvent } from "../../queries/audit/audited-event.ts";
import { findClicks } from "../../queries/audit/find-clicks.ts";
import { type EventFilter, findEvents, type Page } from "../../queries/audit/find-events.ts";
import { listSeals } from "../../queries/audit/list-seals.ts";
import { EventsQuestion } from "../../queries/audit/questions.ts";
import { searchClicks } from "../../queries/audit/search-clicks.ts";
import { streamState } from "../../queries/audit/stream-state.ts";
import { type CommandRow, option, timeArgument, wholeFrom } from "../command.ts";
import { ACCOUNT, accountNamed, LINK } from "../named.ts";
import { queryOf, runReading, type Session } from "../session.ts";

type FindOptions = Omit<EventFilter, "correlationId"> & {
  correlation?: string;
  limit: number;
  cursor?: string;
};
type ClickOptions = {
  link?: string;
  account?: string;
  from?: string;
  to?: string;
  after?: string;
  limit: number;
};

const PAGE = 50;
const { actor, type, category } = EventsQuestion.shape;
const limit = option("--limit <count>", "at most so many", wholeFrom(1)).default(PAGE);

export const auditLookupCommands: readonly CommandRow[] = [
  {
    name: "find",
    about: "events of accounts, domains, links and the operator, newest first; options can be combined",
    options: [
      option("--account <account>", `of this account: ${ACCOUNT}`),
      option("--actor <actor>", "by operator, or by key:ID, account:ID or system:ID", asked(actor)),
      option("--correlation <id>", "of this request"),
      option("--type <type>", "of this type, such as LinkCreated", asked(type)),
      option("--category <category>", "of streams of this category, such as link", asked(category)),
      option("--from <time>", "recorded at this time or later, ISO 8601", isoTime),
      option("--to <time>", "recorded before this time", isoTime),
      option("--up-to <position>", "at this position or before"),
      limit,
      option("--cursor <cursor>", "`next` of the page before"),
    ],
    by: queryOf([eventIndex]),
    run: (session, { correlation: correlationId, ...filter }: FindOptions) =>
      found(session, { ...filter, correlationId }, filter),
  },
  {
    name: "event <stream> <revision>",
    about: "one event, with what its fields mean",
    args: { revision: new Argument("<revision>").argParser(wholeFrom(0)) },
    by: runReading,
    run: ({ backend }, _: object, stream: string, revision: number) =>
      explainedEvent(backend, stream, revision),
  },
  {
    name: "state <stream>",
    about: "what the events of a stream come to as of a revision, and the difference to another",
    options: [
      option("--revision <number>", "the last one by default", wholeFrom(0)),
      option(
        "--against <number>",
        "the one before by default; -1 for the time before the first",
        wholeFrom(-1),
      ),
    ],
    by: runReading,
    run: ({ backend }, options: { revision?: number; against?: number }, stream: string) =>
      streamState(backend, stream, options),
  },
  {
    name: "clicks",
    about: "hits (clicks and previews) as they were recorded: all of a link or account, or of the last hour",
    options: [
      option("--link <link>", `of this link: ${LINK}`),
      option("--account <account>", `of this account's links: ${ACCOUNT}`),
      option("--from <time>", "ISO 8601", isoTime),
      option("--to <time>", "an hour after --from by default", isoTime),
      option("--after <position>", "`next` of the page before"),
      limit,
    ],
    by: runReading,
    async run(session, options: ClickOptions) {
      const { backend, deps } = session;
      const account = options.account && (await accountNamed(session, options.account));
      const found = await searchClicks(
        { ...deps, findClicks: (search) => findClicks(backend, search) },
        { ...options, account },
      );
      const { next } = found;
      const rest = next === null ? "no more" : `there may be more: go on with --after ${next}`;
      return { ...found, rest };
    },
  },
  {
    name: "seals",
    about: "the seals, newest first, and whether each can be trusted",
    options: [option("--before <number>", "only those before this one", wholeFrom(0)), limit],
    by: runReading,
    run({ backend, config }, options: { before?: number; limit: number }) {
      const sealKeys = sealKeysFrom(config).map(({ publicKey }) => publicKey);
      return listSeals({ eventStore: backend.eventStore, sealKeys }, options);
    },
  },
];

async function found(session: Session, filter: EventFilter, page: Page) {
  const account = filter.account && (await accountNamed(session, filter.account));
  return await findEvents(session.deps, { ...filter, account }, page);
}

/** Read as the console reads it. The function throws InvalidArgumentError. */
function asked<T>(schema: z.ZodType<T>): (text: string) => T {
  return (text) => {
    const { success, data, error } = schema.safeParse(text);
    if (success) return data;
    throw new InvalidArgumentError(error.issues.map(({ message }) => message).join("; "));
  };
}

function isoTime(text: string): string {
  return timeArgument(text).toISOString();
}
