// The clicks of an account that fit a question, from the log: for the numbers, and for lists and exports of single clicks.
import { reclassified } from "../../../events/classification/reclassify.ts";
import type { ClickKind } from "../../../events/vocabulary.ts";
import { type LinkDocument, links } from "../../../projections/definitions/links.ts";
import { type ClickEvent, linkOf, wantedClicks } from "../../../projections/fold/clicks-between.ts";
import { withdrawnOfAll } from "../../../projections/fold/read-withdrawals.ts";
import type { TimeSlices } from "../../../runtime/threads/time-slices.ts";
import {
  type EventStore,
  type Position,
  type RecordedEvent,
  START,
} from "../../../stores/event-store/port.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import { firstEvent, ownerOf } from "../../feed/account-events.ts";
import { positionBefore } from "../log-positions.ts";
import type { TimeZone } from "../time-zone.ts";
import { type Hit, localTime, VALUES } from "./group-values.ts";
import type { Filters, GroupBy } from "./question.ts";

export type HitDeps = {
  eventStore: Pick<EventStore, "read" | "readAll">;
  readStore: Pick<ReadStore, "find" | "getMany">;
};

/**
 * [from, to) in milliseconds: when clicks happened. `start`: where in the log they begin, `end`: where they end at the latest. `upTo`: as of
 * this position, inclusive. `rules`: under which clicks are classified again; undefined: as recorded. `needsTags`: though they aren't filtered by.
 */
export type HitSearch = {
  accountId: string;
  filters: Filters;
  kinds: readonly ClickKind[];
  from: number;
  to: number;
  zone: TimeZone;
  start?: { after: Position } | { from: Position } | undefined;
  end?: Position;
  upTo: Position;
  rules: string | undefined;
  needsTags?: boolean;
};

/** `instant`: when it happened, in milliseconds. */
export type AccountHit = Hit & { event: ClickEvent; instant: number };

/**
 * In the order of the log, without those that are withdrawn and those that can't be read; a batch may be empty. `onRead` is
 * called with the position of each event that is read, and may throw to end the search. @throws EventNewer, what the stores throw
 */
export async function* hitsInLog(
  deps: HitDeps,
  { accountId, filters, kinds, from, to, zone, start, end, upTo, rules, needsTags = false }: HitSearch,
  onRead: (position: Position) => void = () => undefined,
  slices?: TimeSlices,
): AsyncGenerator<AccountHit[]> {
  const isWithdrawn = await withdrawnOfAll(deps, upTo);
  const tests = Object.entries(filters).map(([field, values]) => ({
    valuesOf: VALUES[field as GroupBy],
    wanted: new Set(values),
  }));
  const ofLinks = filters.link && new Set(filters.link);
  const tagsOf = filters.tag || needsTags ? linkTags(deps) : noTags;
  const [since, until] = [isoOf(from), isoOf(to)];
  // Before the data is validated, as most clicks may be of others, or of another time.
  const isWanted = (recorded: RecordedEvent) => {
    onRead(recorded.position);
    if (ownerOf(recorded) !== accountId) return false;
    const { at } = recorded.data as { at?: unknown };
    if (typeof at !== "string" || at < since || at >= until) return false;
    return ofLinks === undefined || ofLinks.has(linkOf(recorded) ?? "");
  };
  // No click of an account precedes its opening.
  const before = async () => {
    const opened = (await firstEvent(deps, accountId))?.position ?? START;
    const earlier = await positionBefore(deps, new Date(Math.max(from, FIRST)));
    return { after: [opened, earlier].toSorted().at(-1) ?? START };
  };
  const part = { ...(start ?? (await before())), upTo: end ?? upTo };
  for await (const events of wantedClicks(deps, isWanted, part, undefined, slices)) {
    const tags = await tagsOf(events.map(({ data }) => data.link));
    yield events.flatMap((recorded) => {
      if (isWithdrawn({ ...recorded.data, position: recorded.position })) return [];
      const event = rules === undefined ? recorded : reclassified(recorded, rules);
      if (!kinds.includes(event.data.kind)) return [];
      const instant = Date.parse(event.data.at);
      const { data: click } = event;
      const hit = { event, click, instant, local: localTime(zone, instant), tags: tags(click.link) };
      const fits = tests.every(({ valuesOf, wanted }) => valuesOf(hit).some((value) => wanted.has(value)));
      return fits ? [hit] : [];
    });
  }
}

/** Years beyond these have another form as text. */
const [FIRST, LAST] = [Date.parse("0000-01-01T00:00:00.000Z"), Date.parse("9999-12-31T23:59:59.999Z")];

function isoOf(instant: number): string {
  if (instant > LAST) return "~";
  return instant <= FIRST ? "" : new Date(instant).toISOString();
}

type TagsOf = (links: readonly string[]) => Promise<(link: string) => readonly string[]>;

export const noTags: TagsOf = async () => () => [];

/** The present tags of links, by their keys; each is read once. */
export function linkTags({ readStore }: Pick<HitDeps, "readStore">): TagsOf {
  const known = new Map<string, readonly string[]>();
  return async (keys) => {
    const missing = [...new Set(keys)].filter((link) => !known.has(link));
    const read =
      missing.length > 0
        ? await readStore.getMany<LinkDocument>(links.collection.name, missing, ["tags"])
        : [];
    for (const link of missing) known.set(link, []);
    for (const { _id, tags } of read) known.set(_id, tags ?? []);
    return (link) => known.get(link) ?? [];
  };
}
