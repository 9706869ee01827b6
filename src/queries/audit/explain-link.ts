// Everything about one link in one answer: who made it, what was changed by whom, its hits, and what proves all that.

import { amount } from "../../audit/verdict.ts";
import type { LinkAddress } from "../../commands/links/link-stream.ts";
import { Refused } from "../../commands/refusals.ts";
import { evolve, noWithdrawals } from "../../commands/withdrawals/decide-withdrawal.ts";
import type { WithdrawalEvent } from "../../events/catalogue.ts";
import type { OptionChanges } from "../../events/link-options.ts";
import { metadataOf, readableEvent } from "../../events/read-event.ts";
import { linkKey, withdrawalStream } from "../../events/streams.ts";
import { eventOf } from "../../projections/definitions/click-tables/positions.ts";
import type { KeyDocument } from "../../projections/definitions/keys.ts";
import { type LinkTotalsDocument, linkTotals } from "../../projections/definitions/link-totals.ts";
import { projectionGroups } from "../../projections/groups.ts";
import { readSetAside, type SetAsideEvent, setAsideCollection } from "../../stores/coordination/set-aside.ts";
import type { Actor, EventStore, Position, RecordedEvent } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { findKey } from "../accounts.ts";
import { linkFromStream } from "../links/find-link.ts";
import { actorWords, clausesOf, sentenceOf } from "../links/history-sentences.ts";
import { hitCounts } from "../links/hits-of-links.ts";
import { linkSteps } from "../links/link-history.ts";
import { statusOf } from "../links/link-statuses.ts";
import { ownerEmail, peopleInSentences, peopleOf } from "../people.ts";
import { auditedEvent } from "./audited-event.ts";
import { coverageOf } from "./covering-seals.ts";
import { proofProblems, recount } from "./link-proof.ts";
import { withdrawalRow } from "./withdrawal-rows.ts";

export type LinkExplanation = Awaited<ReturnType<typeof explainLink>>;
export type ExplainedStep = LinkExplanation["history"][number];

export type ExplainDeps = {
  eventStore: EventStore;
  readStore: ReadStore;
  secrets: Secrets;
  baseHost: string;
  /** Public keys: of SECRET_KEY first. */
  sealKeys: readonly string[];
  clock: () => Date;
};

const OF_EVERY_STEP = ["host", "slug", "accountId", "at", "shortUrl"];

/**
 * `owner`: an account that only learns of its own link. `reader`: the person who is told, as “you”. `verify`: reads the whole log, asks for the leaf of each event of the
 * link, and counts the link's clicks. `clicks`: those that count, as of the event at `up_to`. @throws not_found
 */
export async function explainLink(
  deps: ExplainDeps,
  { host, slug }: LinkAddress,
  { owner, reader, verify = false }: { owner?: string; reader?: string; verify?: boolean } = {},
) {
  const { eventStore, readStore } = deps;
  const key = linkKey(host, slug);
  const head = verify ? await eventStore.head() : undefined;
  const events: RecordedEvent[] = [];
  const link = await linkFromStream(eventStore, key, (recorded) => events.push(recorded));
  if (events.length === 0 || (owner !== undefined && link?.accountId !== owner))
    throw new Refused("not_found", `There is no link ${key}.`);
  const withdrawn = await eventsOf(eventStore, withdrawalStream(key));
  const all = [...events, ...withdrawn].sort((a, b) => (a.position < b.position ? -1 : 1));
  const history = await stepsOf(deps, all, reader);
  const document = await readStore.get<LinkTotalsDocument>(linkTotals.name, key);
  const [first_at, last_at] = [document?.firstAt || null, document?.lastAt || null];
  const up_to = document ? eventOf(document._position) : null;
  const clicks = { ...hitCounts(document), first_at, last_at, up_to, recounted: verify };
  const setAside = await setAsideOf(readStore, new Set(all.map(({ stream }) => stream)));

  const positions = all.map(({ position }) => position);
  const coverage = await coverageOf(eventStore, positions, deps.sealKeys);
  const problems = [
    ...gaps(events),
    ...gaps(withdrawn),
    ...history.flatMap(({ type, position, error }) =>
      error === null ? [] : [`${type || "an event"} at position ${position} can't be read`],
    ),
    ...setAside.map(({ type, position }) => `${type || "an event"} at position ${position} is set aside`),
  ];
  problems.push(...coverage.problems);
  if (head !== undefined)
    problems.push(...(await proofProblems(deps, { link: key, events: all, seals: coverage.numbers, head })));
  if (verify) problems.push(...(await recount(deps, key, events[0] as RecordedEvent, clicks)));
  const seals = {
    numbers: coverage.numbers,
    sealed: all.length - coverage.unsealed.length,
    unsealed: coverage.unsealed.length,
    newest: coverage.newest ?? null,
    recomputed: verify,
  };
  const accountId = link?.accountId ?? null;
  const email = accountId === null ? null : await ownerEmail(deps, accountId);
  return {
    link: key,
    short_url: link?.shortUrl ?? null,
    destination: link?.longUrl ?? null,
    /** What a visitor meets; of a link whose LinkCreated can't be read nothing is known. */
    status: link && link.shortUrl !== "" ? await statusOf(deps, link) : ("unreadable" as const),
    owner: { account_id: accountId, email },
    created_at: link?.createdAt ?? null,
    created_by: history[0]?.by ?? null,
    clicks,
    history,
    withdrawals: withdrawalsIn(withdrawn).map(withdrawalRow),
    set_aside: setAside,
    seals,
    problems,
    ...proofOf({ events: all.length, clicks, seals, problems }),
  };
}

async function eventsOf(eventStore: EventStore, stream: string): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const page of streamPages(eventStore, stream)) events.push(...page);
  return events;
}

/**
 * `detail`: what the event says besides the link, its owner and the time. `sentence`: the same for people. `error`: why it
 * can't be read.
 */
async function stepsOf(deps: ExplainDeps, events: readonly RecordedEvent[], reader: string | undefined) {
  const people = await peopleInSentences(
    deps,
    peopleOf(events.map((event) => metadataOf(event).actor)),
    reader,
  );
  const keys = new Map<string, KeyDocument | undefined>();
  const keyOf = async (actor: Actor) => {
    if (actor.type !== "key") return undefined;
    if (!keys.has(actor.id)) keys.set(actor.id, await findKey(deps, actor.id));
    return keys.get(actor.id);
  };
  const nextStep = linkSteps();
  const steps = [];
  for (const recorded of events) {
    const { position, recorded_at, type, stream, revision, actor, data, error } = auditedEvent(recorded);
    // Without its schema it may say anything, also of others.
    const members = error === null ? Object.entries(data as object) : [];
    const detail = detailOf(Object.fromEntries(members.filter(([name]) => !OF_EVERY_STEP.includes(name))));
    const key = await keyOf(actor);
    const step = nextStep(recorded, readableEvent(recorded));
    const by = actorWords(step, people, key);
    const sentence = sentenceOf(by, clausesOf(step));
    steps.push({ position, recorded_at, type, by, sentence, detail, stream, revision, error });
  }
  return steps;
}

/** Options that were changed beside each other, and the names of those that were taken away. */
function detailOf({ changes, ...rest }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (changes === undefined) return rest;
  const all = Object.entries(changes as OptionChanges);
  const cleared = all.flatMap(([name, value]) => (value === null ? [name] : []));
  const set = Object.fromEntries(all.filter(([, value]) => value !== null));
  return { ...rest, ...set, ...(cleared.length > 0 && { cleared }) };
}

function withdrawalsIn(withdrawn: readonly RecordedEvent[]) {
  return withdrawn
    .flatMap((recorded) => (readableEvent(recorded) as WithdrawalEvent | undefined) ?? [])
    .reduce(evolve, noWithdrawals).withdrawals;
}

/** Revisions that are missing. */
function gaps(events: readonly RecordedEvent[]): string[] {
  return events.flatMap(({ stream, revision }, n) => {
    const expected = n === 0 ? 0 : (events[n - 1] as RecordedEvent).revision + 1;
    return revision === expected ? [] : [`revision ${expected} of ${stream} is missing`];
  });
}

async function setAsideOf(readStore: ReadStore, streams: ReadonlySet<string>): Promise<SetAsideEvent[]> {
  const setAside = new Map<Position, SetAsideEvent>();
  for (const { name } of projectionGroups) {
    const checkpoint = await readStore.checkpoint(name);
    const { events } = await readSetAside(readStore, setAsideCollection(name), checkpoint);
    for (const event of events) if (streams.has(event.stream)) setAside.set(event.position, event);
  }
  return [...setAside.values()].sort((a, b) => (a.position < b.position ? -1 : 1));
}

/** `sealed`: nothing wrong was seen, and nothing was recomputed. */
type Verdict = "proved" | "sealed" | "unsealed" | "problem";

type Evidence = {
  /** Events of the link and its withdrawals. */
  events: number;
  /** Hits that count, as of the event at `up_to`. `recounted`: whether the log was counted again now. */
  clicks: { total: number; up_to: Position | null; recounted: boolean };
  /** `recomputed`: whether the blocks of these seals were compared with the log now. */
  seals: {
    numbers: readonly number[];
    sealed: number;
    unsealed: number;
    newest: Position | null;
    recomputed: boolean;
  };
  problems: readonly string[];
};

/** What proves an explanation, as one word and one sentence. */
function proofOf(evidence: Evidence): { verdict: Verdict; sentence: string } {
  const { seals, problems } = evidence;
  const clicks = clicksText(evidence);
  const [first] = problems;
  if (first !== undefined) {
    const more = problems.length > 1 ? `, and ${problems.length - 1} more` : "";
    return { verdict: "problem", sentence: `Not as it should be: ${first}${more}; ${clicks}.` };
  }
  const { sealed, unsealed } = seals;
  const all = evidence.events === 1 ? "its only event" : `its ${amount(evidence.events, "event")}`;
  if (sealed === 0)
    return { verdict: "unsealed", sentence: `Nothing is proved: no seal covers ${all} yet; ${clicks}.` };
  const covered = unsealed === 0 ? all : `${sealed} of ${all}`;
  const rest = unsealed === 0 ? "" : `, and no seal covers the other ${unsealed} yet`;
  const [was, lies] = sealed === 1 ? ["is as it was", "lies"] : ["are as they were", "lie"];
  const by = sealsText(seals);
  if (seals.recomputed)
    return { verdict: "proved", sentence: `Proved: ${covered} ${was} sealed by ${by}${rest}; ${clicks}.` };
  const sentence = `Nothing wrong was seen, and nothing was verified just now: ${covered} ${lies} under ${by}, which verifying the log checks${rest}; ${clicks}.`;
  return { verdict: "sealed", sentence };
}

function sealsText({ numbers }: Evidence["seals"]): string {
  const [first, last] = [numbers[0], numbers.at(-1)];
  return first === last ? `seal ${first}` : `${numbers.length} of the seals ${first} to ${last}`;
}

function clicksText({ clicks, seals }: Evidence): string {
  const { total, up_to: upTo, recounted } = clicks;
  if (upTo === null) return "no click is counted";
  const cover =
    seals.newest !== null && upTo <= seals.newest ? "under seals too" : "the last under no seal yet";
  const counted = recounted ? "counted again in the log" : "counted as they came";
  return `${amount(total, "hit")} up to position ${upTo} (${cover}) were ${counted}`;
}
