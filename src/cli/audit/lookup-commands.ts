// linkledger audit find | event | state | clicks | seals: what the console shows, on the command line.
import { type Command, InvalidArgumentError } from "commander";
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
import { timeArgument, wholeFrom } from "../arguments.ts";
import { LINK } from "../link-name.ts";
import { ACCOUNT, accountNamed } from "../named.ts";
import { type Json, runQuery, runReading, type Session } from "../session.ts";

type FindOptions = Json &
  Omit<EventFilter, "correlationId"> & { correlation?: string; limit: number; cursor?: string };
type ClickOptions = Json & {
  link?: string;
  account?: string;
  from?: string;
  to?: string;
  after?: string;
  limit: number;
};

const PAGE = 50;
const { actor, type, category } = EventsQuestion.shape;

export function auditLookupCommands(audit: Command): void {
  audit
    .command("find")
    .description("events of accounts, domains, links and the operator, newest first; options can be combined")
    .option("--account <account>", `of this account: ${ACCOUNT}`)
    .option("--actor <actor>", "by operator, or by key:ID, account:ID or system:ID", asked(actor))
    .option("--correlation <id>", "of this request")
    .option("--type <type>", "of this type, such as LinkCreated", asked(type))
    .option("--category <category>", "of streams of this category, such as link", asked(category))
    .option("--from <time>", "recorded at this time or later, ISO 8601", isoTime)
    .option("--to <time>", "recorded before this time", isoTime)
    .option("--up-to <position>", "at this position or before")
    .option("--limit <count>", "at most so many", wholeFrom(1), PAGE)
    .option("--cursor <cursor>", "`next` of the page before")
    .option("--json", "print one JSON document")
    .action(({ correlation: correlationId, ...filter }: FindOptions) =>
      runQuery(filter, (session) => found(session, { ...filter, correlationId }, filter), [eventIndex]),
    );

  audit
    .command("event")
    .description("one event, with what its fields mean")
    .argument("<stream>")
    .argument("<revision>", "", wholeFrom(0))
    .option("--json", "print one JSON document")
    .action((stream: string, revision: number, options: Json) =>
      runReading(options, ({ backend }) => explainedEvent(backend, stream, revision)),
    );

  audit
    .command("state")
    .description("what the events of a stream come to as of a revision, and the difference to another")
    .argument("<stream>")
    .option("--revision <number>", "the last one by default", wholeFrom(0))
    .option(
      "--against <number>",
      "the one before by default; -1 for the time before the first",
      wholeFrom(-1),
    )
    .option("--json", "print one JSON document")
    .action((stream: string, options: Json & { revision?: number; against?: number }) =>
      runReading(options, ({ backend }) => streamState(backend, stream, options)),
    );

  audit
    .command("clicks")
    .description(
      "hits (clicks and previews) as they were recorded: all of a link or account, or of the last hour",
    )
    .option("--link <link>", `of this link: ${LINK}`)
    .option("--account <account>", `of this account's links: ${ACCOUNT}`)
    .option("--from <time>", "ISO 8601", isoTime)
    .option("--to <time>", "an hour after --from by default", isoTime)
    .option("--after <position>", "`next` of the page before")
    .option("--limit <count>", "at most so many", wholeFrom(1), PAGE)
    .option("--json", "print one JSON document")
    .action((options: ClickOptions) =>
      runReading(options, async (session) => {
        const { backend, deps } = session;
        const account = options.account && (await accountNamed(session, options.account));
        const found = await searchClicks(
          { ...deps, findClicks: (search) => findClicks(backend, search) },
          { ...options, account },
        );
        const { next } = found;
        const rest = next === null ? "no more" : `there may be more: go on with --after ${next}`;
        return { ...found, rest };
      }),
    );

  audit
    .command("seals")
    .description("the seals, newest first, and whether each can be trusted")
    .option("--before <number>", "only those before this one", wholeFrom(0))
    .option("--limit <count>", "at most so many", wholeFrom(1), PAGE)
    .option("--json", "print one JSON document")
    .action((options: Json & { before?: number; limit: number }) =>
      runReading(options, ({ backend, config }) => {
        const sealKeys = sealKeysFrom(config).map(({ publicKey }) => publicKey);
        return listSeals({ eventStore: backend.eventStore, sealKeys }, options);
      }),
    );
}

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
