// The questions that auditors and operators ask, each with its arguments and its answer: console pages, JSON routes below
// /admin/api and commands are made from this list.
import { z } from "zod";
import type { VerificationRuns } from "../../audit/verification-runs.ts";
import { isRefused, Refused } from "../../commands/refusals.ts";
import type { WithdrawalRequest } from "../../commands/withdrawals/accept-selection.ts";
import type { FindMatching } from "../../commands/withdrawals/decide-withdrawal.ts";
import { listWithdrawals, previewWithdrawal } from "../../commands/withdrawals/withdraw-clicks.ts";
import { CATEGORY, SEALS_STREAM, streamNamed } from "../../events/streams.ts";
import { eventIndex } from "../../projections/definitions/event-index.ts";
import { namedLink } from "../../queries/links/named-link.ts";
import { MOMENT_EXAMPLE, parseMoment } from "../../runtime/moment.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import { accountDetails, accountsPage, type FindAccountDeps, findAccount } from "../accounts.ts";
import { type NameDeps, peoplePage, withActorNames } from "../people.ts";
import { explainedEvent, logPage, streamPage } from "./audited-event.ts";
import { type ExplainDeps, explainLink } from "./explain-link.ts";
import { type FindClicks, searchClicks } from "./find-clicks.ts";
import { findEvents, listClickHours, listStreams } from "./find-events.ts";
import { listSeals } from "./list-seals.ts";
import { projectionRows } from "./projection-rows.ts";
import { streamState } from "./stream-state.ts";
import { previewRow, withdrawalRow } from "./withdrawal-rows.ts";

/** `next`: the argument that takes `next` of the page before. */
export type Question<Deps, Args extends z.ZodObject, Answer> = {
  args: Args;
  answer(deps: Deps, asked: z.infer<Args>): Promise<Answer>;
  next?: keyof z.infer<Args> & string;
};

/** How people are asked for an argument, by a field of a form or an option: paging and `about` are for options alone. */
export type Asked = {
  label?: string;
  example?: string;
  oneOf?: readonly string[] | undefined;
  about?: string;
};

type Logged = { eventStore: EventStore };
type OfWithdrawals = Logged & { clock: () => Date; baseHost: string; matchingClicks: FindMatching };
type OfClicks = Logged & FindAccountDeps & { findClicks: FindClicks; searchMs?: number };
type OfAccounts = Parameters<typeof accountDetails>[0] & FindAccountDeps;

export const CATEGORIES = [...Object.values(CATEGORY), SEALS_STREAM] as const;

const LOGGED_CATEGORIES = Object.values(CATEGORY);
/** Categories of streams in the index of events. */
const INDEXED_CATEGORIES = LOGGED_CATEGORIES.filter((category) => category !== CATEGORY.clicks);

/** What findAccount takes, and namedLink. */
export const ACCOUNT_NAMES = "e-mail, id, key id, hostname or short URL";
const LINK_NAMES = "slug, host/slug or short URL";
const TIME = "such as 2026-03-01T10:00Z";

/** An empty field of a form is no argument. */
function absentIfBlank<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === "" || /^\s+$/.test(String(value)) ? undefined : value), schema);
}

function arg<T extends z.ZodType>(schema: T, label: string, example: string, oneOf?: readonly string[]) {
  return absentIfBlank(schema).meta({ label, example, oneOf } satisfies Asked);
}

function paging<T extends z.ZodType>(schema: T, about: string) {
  return absentIfBlank(schema).meta({ about });
}

function whole(least: number, most = 1e15) {
  const wrong = `must be a whole number from ${least} on${most < 1e15 ? `, at most ${most}` : ""}`;
  return z.coerce.number(wrong).int(wrong).min(least, wrong).max(most, wrong);
}

const text = z.string().trim().max(500);
const words = text.optional();
const name = z.string().min(1).max(500);
const streamName = name.transform(streamNamed);

const moment = z
  .string()
  .transform((value, context) => {
    const at = parseMoment(value);
    if (at) return at.toISOString();
    context.addIssue({ code: "custom", message: `must be ${MOMENT_EXAMPLE}` });
    return z.NEVER;
  })
  .optional();

/** Also as pages show it, without the zeros that it is padded with. */
const position = text
  .transform((value) => value.replace(/\d+/g, (digits) => digits.padStart(20, "0")))
  .optional();

/** `<type>` or `<type>:<id>`, such as `key:0190...`. */
const actor = text.regex(
  /^(operator|person|key|system)(:[\w.-]{1,100})?$/,
  "must be operator, person, key or system, and may have : and an id",
);

const limit = paging(whole(1, 200).default(50), "at most so many");
const cursor = paging(words, "`next` of the page before");
const before = paging(whole(0).optional(), "only those before this one");
const account = arg(words, "Account", ACCOUNT_NAMES);
const from = arg(moment, "From", TIME);
const to = arg(moment, "Until", TIME);

const ofLink = z.object({ link: arg(text.min(1), "Link", LINK_NAMES) });

const hitsOfLink = ofLink.extend({
  from: arg(moment, "From", "when the link was made"),
  to: arg(moment, "Until", "now"),
  ip_prefix: arg(words, "Network", "203.0.113.0/24"),
  user_agent: arg(words, "User agent contains", "HeadlessChrome, in any case"),
  visitor: arg(words, "Visitor code", "16 hex digits, as exports show it"),
});

export type HitsOfLink = z.infer<typeof hitsOfLink>;

type Partly<Args extends z.ZodObject> = z.ZodObject<{
  [name in keyof Args["shape"]]: z.ZodOptional<Args["shape"][name]>;
}>;

/** The same arguments, where those that a field asks for need not be given: a page shows its empty form first. */
export function partly<Args extends z.ZodObject>(args: Args): Partly<Args> {
  const shape = Object.entries<z.ZodType>(args.shape).map(([name, schema]) => {
    const about = (schema.meta() ?? {}) as Asked;
    return [name, about.label === undefined ? schema : absentIfBlank(schema.optional()).meta(about)];
  });
  return z.object(Object.fromEntries(shape)) as unknown as Partly<Args>;
}

function question<Deps, Args extends z.ZodObject, Answer>(asked: Question<Deps, Args, Answer>) {
  return asked;
}

export const questions = {
  accounts: question({
    args: z.object({ find: account, limit, cursor }),
    next: "cursor",
    async answer(deps: OfAccounts, { find, ...page }) {
      if (find === undefined) return await accountsPage(deps, page);
      return { accounts: [await accountDetails(deps, await accountNamed(deps, find))], next: null };
    },
  }),
  "accounts/:account": question({
    args: z.object({ account: name }),
    answer: async (deps: OfAccounts, asked) => accountDetails(deps, await accountNamed(deps, asked.account)),
  }),
  people: question({
    args: z.object({ find: arg(words, "Person", "a part of the address or name, or the id"), limit, cursor }),
    next: "cursor",
    answer: (deps: FindAccountDeps, asked) => peoplePage(deps, asked),
  }),
  streams: question({
    args: z.object({
      category: absentIfBlank(z.enum(CATEGORIES).default("account")),
      account,
      limit,
      cursor,
    }),
    next: "cursor",
    answer: async (deps: FindAccountDeps, { category, ...asked }) =>
      category === CATEGORY.clicks
        ? await listClickHours(deps, asked)
        : await listStreams(deps, { category, account: await ofAccount(deps, asked) }, asked),
  }),
  stream: question({
    args: z.object({ name: streamName, before, limit }),
    next: "before",
    async answer(deps: Logged & NameDeps, { name: stream, ...page }) {
      const { events, next } = await streamPage(deps, stream, page);
      return { stream, events: await withActorNames(deps, events), next };
    },
  }),
  event: question({
    args: z.object({ stream: streamName, revision: whole(0) }),
    async answer(deps: Logged & NameDeps, { stream, revision }) {
      const event = await explainedEvent(deps, stream, revision);
      const [named] = await withActorNames(deps, [event]);
      return named ?? { ...event, actor_name: null };
    },
  }),
  state: question({
    args: z.object({
      stream: streamName,
      revision: arg(whole(0).optional(), "Revision", "the last one by default"),
      against: arg(whole(-1).optional(), "Compared with", "the one before by default; -1: before the first"),
    }),
    answer: (deps: Logged, { stream, ...revisions }) => streamState(deps, stream, revisions),
  }),
  events: question({
    args: z.object({
      account,
      actor: arg(actor.optional(), "Actor", "operator, person, key or system, or person:ID"),
      correlation_id: arg(words, "Correlation id", "the x-request-id of a request"),
      category: arg(z.enum(INDEXED_CATEGORIES).optional(), "Category", "such as link", INDEXED_CATEGORIES),
      type: arg(z.enum(eventIndex.handles).optional(), "Type", "such as LinkCreated", eventIndex.handles),
      from,
      to,
      up_to: arg(position, "Up to position", "of an event"),
      limit,
      cursor,
    }),
    next: "cursor",
    async answer(deps: FindAccountDeps, { correlation_id: correlationId, up_to: upTo, ...asked }) {
      const filter = { ...asked, account: await ofAccount(deps, asked), correlationId, upTo };
      const page = await findEvents(deps, filter, asked);
      return { ...page, events: await withActorNames(deps, page.events) };
    },
  }),
  log: question({
    args: z.object({
      from: arg(position, "From position", "the beginning"),
      category: arg(z.enum(CATEGORIES).optional(), "Category", "such as clicks", LOGGED_CATEGORIES),
      limit,
    }),
    next: "from",
    async answer(deps: Logged & NameDeps, asked) {
      const { events, next } = await logPage(deps, asked);
      return { events: await withActorNames(deps, events), next };
    },
  }),
  clicks: question({
    args: z.object({
      link: arg(words, "Link", LINK_NAMES),
      account,
      from,
      to: arg(moment, "Until", "an hour later by default"),
      after: paging(words, "`next` of the page before"),
      limit,
    }),
    next: "after",
    answer: async (deps: OfClicks, asked) =>
      await searchClicks(deps, { ...asked, account: await ofAccount(deps, asked) }),
  }),
  explain: question({
    args: ofLink,
    answer: (deps: ExplainDeps & { baseHost: string }, asked) =>
      explainLink(deps, namedLink(asked.link, deps.baseHost)),
  }),
  withdrawals: question({
    args: ofLink,
    answer: async (deps: Logged & { baseHost: string }, asked) => ({
      withdrawals: (await listWithdrawals(deps, namedLink(asked.link, deps.baseHost))).map(withdrawalRow),
    }),
  }),
  "withdrawals/preview": question({
    args: hitsOfLink,
    answer: async (deps: OfWithdrawals, asked) =>
      previewRow(await previewWithdrawal(deps, namedLink(asked.link, deps.baseHost), hitsNamed(asked))),
  }),
  seals: question({
    args: z.object({ before, limit }),
    next: "before",
    answer: (deps: Logged & { sealKeys: readonly string[] }, asked) => listSeals(deps, asked),
  }),
  verification: question({
    args: z.object({}),
    answer: async ({ verifications }: { verifications: Pick<VerificationRuns, "read"> }) => ({
      verification: (await verifications.read()) ?? null,
    }),
  }),
  projections: question({
    args: z.object({}),
    answer: (deps: Parameters<typeof projectionRows>[0]) => projectionRows(deps),
  }),
};

/** The id of the account that is meant, by whatever findAccount takes. @throws not_found */
export async function accountNamed(deps: FindAccountDeps, named: string): Promise<string> {
  try {
    return await findAccount(deps, named);
  } catch (error) {
    if (!isRefused(error, "account_not_found")) throw error;
    throw new Refused("not_found", `No account is found by “${named}”.`);
  }
}

async function ofAccount(deps: FindAccountDeps, asked: { account?: string | undefined }) {
  return asked.account === undefined ? undefined : await accountNamed(deps, asked.account);
}

/** The hits for which a withdrawal is asked. */
export function hitsNamed(asked: Omit<HitsOfLink, "link">): WithdrawalRequest {
  const { from, to, visitor, ip_prefix: ipPrefix, user_agent: userAgent } = asked;
  const time = (text: string | undefined) => (text === undefined ? undefined : new Date(text));
  const times = { from: time(from), to: time(to) };
  return { ...times, visitor, ipPrefix, userAgent };
}
