// Counts the clicks of links again after some were withdrawn, or count again: the days that this touches, of the links and of
// their accounts, are folded anew from the range of the log that they cover, and the totals of a link are those of its days.
// It reads in steps, between which others' clicks are counted.

import type { LinkClicked, StoredEvent } from "../../events/catalogue.ts";
import { reclassified } from "../../events/classification/reclassify.ts";
import { readableEvent } from "../../events/read-event.ts";
import { withdrawalStream } from "../../events/streams.ts";
import { RECENT_CLICKS } from "../../events/vocabulary.ts";
import { isWithdrawnBy, type Withdrawal, withdrawalsAfter } from "../../events/withdrawals.ts";
import { type EventStore, type Position, type RecordedEvent, START } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import {
  type AccountDayCounts,
  type AccountDayDocument,
  countAccountHit,
  noAccountHits,
} from "../definitions/days/account-day.ts";
import { dateOf, dayOf, hitsOfKind } from "../definitions/days/days.ts";
import { emptyDay, type LinkDayDocument, withClick } from "../definitions/days/link-day.ts";
import { addLinkDay, type LinkClicksDocument, linkClicks, noClicks } from "../definitions/link-clicks.ts";
import { addRecent } from "../definitions/recent-clicks.ts";
import { type ClickEvent, type LogRange, linkOf, wantedClicks } from "./clicks-between.ts";
import { withdrawnOfAll } from "./read-withdrawals.ts";

/** A withdrawal, or the end of one, that is not in the documents yet. */
export type PendingWithdrawal = { link: string; position: Position };

/** What the documents are read from, by projection. */
export type ClickCollections = { accountDays: string; linkDays: string; linkClicks: string };

type Deps = {
  eventStore: Pick<EventStore, "read" | "readAll">;
  readStore: Pick<ReadStore, "find" | "get" | "getMany">;
  collections: ClickCollections;
  /** As of a Build. */
  rules: string | undefined;
};

/** What the documents become, with all clicks up to `add`'s last one; `_position` is at least that of the last event in it. */
export type Corrections = {
  linkDays: LinkDayDocument[];
  linkClicks: LinkClicksDocument[];
  accountDays: string[];
  /** The account's day, as it is stored, with its clicks up to `upTo` in it. @throws what the event store throws */
  correctedAccountDay(day: AccountDayDocument, upTo: Position): Promise<AccountDayDocument>;
};

/** A link as it is as of `upTo`, its last pending event. */
type Link = {
  key: string;
  upTo: Position;
  accountId: string;
  isWithdrawn: (click: ClickFacts) => boolean;
  /** Days to be folded anew; of them those whose clicks may be withdrawn or restored are `touched`. */
  days: Map<string, { day: LinkDayDocument; last: Position; isTouched: boolean }>;
  totals: LinkClicksDocument;
};

type ClickFacts = LinkClicked["data"] & { position: Position };
type Range = { from: Position; upTo: Position };
/** What a day with hits covers. */
type DayRange = Range & { link: string; date: string; people: number; bots: number };

/** A day whose tallies are full takes some three milliseconds. */
const DAYS_AT_A_TIME = 10;

export class Recount {
  readonly #deps: Deps;
  readonly #upTo: Position;
  readonly #pending: readonly PendingWithdrawal[];
  readonly #links = new Map<string, Link>();
  /** Clicks that were folded since it began. */
  readonly #since: ClickEvent[] = [];
  readonly #keys: ReadonlySet<string>;
  readonly #ranges: DayRange[] = [];
  /** Days of accounts by id, folded anew up to a position. */
  readonly #accountDays = new Map<string, { counts: AccountDayCounts; upTo: Position }>();
  /** Of all links, as of the beginning. */
  #isWithdrawn: ((click: ClickFacts) => boolean) | undefined;

  /** The stored documents contain the log up to `upTo`, except for what is pending. */
  constructor(deps: Deps, pending: readonly PendingWithdrawal[], upTo: Position) {
    this.#deps = deps;
    this.#pending = pending;
    this.#upTo = upTo;
    this.#keys = new Set(pending.map(({ link }) => link));
  }

  get pending(): readonly PendingWithdrawal[] {
    return this.#pending;
  }

  /** To be called with each event that is folded meanwhile. */
  add(event: StoredEvent): void {
    if (event.type === "LinkClicked" && this.#keys.has(event.data.link)) this.#since.push(event);
  }

  /** Yields after each step; ends when `corrections` can be asked for. @throws what the stores throw */
  async *steps(): AsyncGenerator<void, void> {
    for (const key of this.#keys) {
      const link = await this.#open(key);
      if (link) this.#links.set(key, link);
      yield;
    }
    yield* this.#foldDays(
      [...this.#links.values()].flatMap((link) => [...link.days.values()].map((touched) => touched.day)),
    );
    for (const link of this.#links.values()) yield* this.#sumDays(link);
    yield* this.#foldRecent();
    yield* this.#foldLater();
    yield* this.#foldAccountDays();
  }

  corrections(): Corrections {
    for (const click of this.#since) this.#count(click);
    const links = [...this.#links.values()];
    return {
      linkDays: links.flatMap(({ days }) => [...days.values()].map(({ day }) => day)),
      linkClicks: links.map(({ totals }) => totals),
      accountDays: [...this.#accountDays.keys()],
      correctedAccountDay: async (day, upTo) => {
        const folded = this.#accountDays.get(day._id) ?? { counts: noAccountHits(), upTo: START };
        const range = { after: folded.upTo, upTo: later(upTo, day._position) };
        for await (const _ of this.#foldAccountClicks(new Set([day._id]), range));
        return { ...day, ...folded.counts };
      },
    };
  }

  async *#foldAccountDays(): AsyncGenerator<void, void> {
    const { readStore, collections } = this.#deps;
    const ids = new Set(
      [...this.#links.values()].flatMap(({ accountId, days }) =>
        [...days].flatMap(([date, { isTouched }]) => (isTouched ? [dayOf(accountId, date)] : [])),
      ),
    );
    const fields = ["first", "last"];
    const days = await readStore.getMany<AccountDayDocument>(collections.accountDays, [...ids], fields);
    for (const { _id } of days) this.#accountDays.set(_id, { counts: noAccountHits(), upTo: START });
    const ranges = days.map(({ first, last }) => ({
      from: first,
      upTo: earlier(last, this.#upTo),
    }));
    for (const range of joined(ranges)) yield* this.#foldAccountClicks(ids, range);
    for (const day of this.#accountDays.values()) day.upTo = this.#upTo;
  }

  async *#foldAccountClicks(ids: ReadonlySet<string>, range: LogRange): AsyncGenerator<void, void> {
    const { eventStore } = this.#deps;
    this.#isWithdrawn ??= await withdrawnOfAll({ eventStore }, this.#upTo);
    const idOf = ({ data }: RecordedEvent) => {
      const { accountId, at } = (data ?? {}) as Partial<LinkClicked["data"]>;
      return dayOf(String(accountId), String(at));
    };
    const isOfDays = (recorded: RecordedEvent) => ids.has(idOf(recorded));
    for await (const clicks of this.#classified(wantedClicks({ eventStore }, isOfDays, range))) {
      for (const click of clicks) {
        const day = this.#accountDays.get(dayOf(click.data.accountId, click.data.at));
        if (!day || this.#isWithdrawn({ ...click.data, position: click.position })) continue;
        countAccountHit(day.counts, click.data);
        day.upTo = click.position;
      }
      yield;
    }
  }

  async #open(key: string): Promise<Link | undefined> {
    const { readStore, collections } = this.#deps;
    const stored = await readStore.get<LinkClicksDocument>(collections.linkClicks, key);
    if (!stored) return undefined;
    const positions = this.#pending.filter(({ link }) => link === key).map(({ position }) => position);
    const [first, upTo] = [positions[0] ?? "", positions.at(-1) ?? ""];
    const { inForce, selections } = await this.#withdrawals(key, first, upTo);
    const isTouched = (date: string) => selections.some((selection) => isOnDay(selection, date));
    const days: Link["days"] = new Map();
    const part = { range: daysOf(key), limit: DAYS_AT_A_TIME };
    for await (const page of documentPages<LinkDayDocument>(readStore, collections.linkDays, part))
      for (const { _id, _position, first: start, last } of page) {
        const date = dateOf({ _id });
        const isDayTouched = isTouched(date) && start <= upTo;
        if (!isDayTouched && last <= upTo) continue;
        const day = { ...emptyDay(), _id, _position, first: start };
        days.set(date, { day, last: later(last, upTo) === upTo ? last : upTo, isTouched: isDayTouched });
      }
    return {
      key,
      upTo,
      accountId: stored.accountId,
      days,
      isWithdrawn: isWithdrawnBy(inForce),
      totals: { ...noClicks(stored.accountId), _id: key, _position: upTo },
    };
  }

  /** Those in force as of `upTo`, and what the events from `first` on withdraw or restore. */
  async #withdrawals(link: string, first: Position, upTo: Position) {
    const selections: Withdrawal[] = [];
    let inForce: readonly Withdrawal[] = [];
    for await (const page of streamPages(this.#deps.eventStore, withdrawalStream(link)))
      for (const recorded of page) {
        if (recorded.position > upTo) return { inForce, selections };
        const event = readableEvent(recorded);
        if (event?.type !== "ClicksWithdrawn" && event?.type !== "ClicksRestored") continue;
        const after = withdrawalsAfter(inForce, event);
        const id = event.data.withdrawalId;
        if (recorded.position >= first)
          selections.push(...[...inForce, ...after].filter(({ withdrawalId }) => withdrawalId === id));
        inForce = after;
      }
    return { inForce, selections };
  }

  /** As of its link's last pending event. */
  async *#foldDays(wanted: readonly LinkDayDocument[]): AsyncGenerator<void, void> {
    const folded = new Set(wanted);
    const ranges = [...this.#links.values()].flatMap(({ days }) =>
      [...days.values()]
        .filter(({ day, last }) => folded.has(day) && day.first <= last)
        .map(({ day, last }) => ({ from: day.first, upTo: last })),
    );
    for await (const clicks of this.#clicksIn(ranges)) {
      for (const click of clicks) {
        const link = this.#links.get(click.data.link);
        const date = click.data.at.slice(0, 10);
        const touched = link?.days.get(date);
        if (!link || !touched || !folded.has(touched.day)) continue;
        if (click.position > touched.last || click.position <= touched.day.last) continue;
        const facts = { ...click.data, position: click.position };
        if (!link.isWithdrawn(facts)) withClick(touched.day, click);
        touched.day.last = click.position;
      }
      yield;
    }
    for (const { days, upTo } of this.#links.values())
      for (const { day, isTouched } of days.values())
        if (folded.has(day)) day._position = isTouched ? upTo : day.last;
  }

  /** Days that have changed since the beginning are folded as they were at its last pending event, too. */
  async *#sumDays({ key, days, totals, upTo }: Link): AsyncGenerator<void, void> {
    const { readStore, collections } = this.#deps;
    const part = { range: daysOf(key), limit: DAYS_AT_A_TIME };
    for await (const page of documentPages<LinkDayDocument>(readStore, collections.linkDays, part)) {
      for (const stored of page) {
        const date = dateOf(stored);
        if (!days.has(date) && stored.last > upTo) {
          const day = { ...emptyDay(), _id: stored._id, _position: "", first: stored.first };
          days.set(date, { day, last: upTo, isTouched: false });
          yield* this.#foldDays([day]);
        }
        const day = days.get(date)?.day ?? stored;
        addLinkDay(totals, day);
        this.#ranges.push(...recentRange(key, day));
      }
      yield;
    }
  }

  /** The last clicks are those of the latest days that have enough of them. */
  async *#foldRecent(): AsyncGenerator<void, void> {
    const wanted: DayRange[] = [];
    const counted = new Map<string, { people: number; bots: number }>();
    for (const range of this.#ranges.toSorted((a, b) => (a.date > b.date ? -1 : 1))) {
      const soFar = counted.get(range.link) ?? { people: 0, bots: 0 };
      const isWanted =
        (range.people > 0 && soFar.people < RECENT_CLICKS) || (range.bots > 0 && soFar.bots < RECENT_CLICKS);
      if (isWanted) wanted.push(range);
      counted.set(range.link, { people: soFar.people + range.people, bots: soFar.bots + range.bots });
    }
    const dates = new Set(wanted.map(({ link, date }) => dayOf(link, date)));
    for await (const clicks of this.#clicksIn(wanted)) {
      for (const click of clicks) {
        const link = this.#links.get(click.data.link);
        if (!link || click.position > link.upTo || !dates.has(dayOf(link.key, click.data.at))) continue;
        if (!link.isWithdrawn({ ...click.data, position: click.position }))
          addRecent(link.totals.recent, click.data);
      }
      yield;
    }
  }

  /** What was recorded between the last pending event and the beginning. */
  async *#foldLater(): AsyncGenerator<void, void> {
    const links = [...this.#links.values()];
    const from = links.map(({ upTo }) => upTo).sort()[0] ?? this.#upTo;
    if (from >= this.#upTo) return;
    for await (const clicks of this.#clicksIn([{ from, upTo: this.#upTo }])) {
      for (const click of clicks) this.#count(click);
      yield;
    }
  }

  #count(click: ClickEvent): void {
    const link = this.#links.get(click.data.link);
    if (!link || click.position <= link.upTo || click.position <= link.totals._position) return;
    Object.assign(link.totals, linkClicks.evolve(link.totals, click), { _position: click.position });
    const date = click.data.at.slice(0, 10);
    // Any other day is right as it is stored: neither a withdrawal nor the end of one touches it.
    const day = link.days.get(date)?.day;
    if (day) Object.assign(withClick(day, click), { _position: click.position });
  }

  /** Of these links, in the order of the log, each once. */
  async *#clicksIn(ranges: readonly Range[]): AsyncGenerator<ClickEvent[]> {
    const { eventStore } = this.#deps;
    const isOfLink = (recorded: RecordedEvent) => this.#keys.has(linkOf(recorded) ?? "");
    for (const { from, upTo } of joined(ranges))
      yield* this.#classified(wantedClicks({ eventStore }, isOfLink, { from, upTo }));
  }

  async *#classified(pages: AsyncIterable<ClickEvent[]>): AsyncGenerator<ClickEvent[]> {
    const { rules } = this.#deps;
    for await (const clicks of pages)
      yield rules === undefined ? clicks : clicks.map((click) => reclassified(click, rules));
  }
}

function joined(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const { from, upTo } of ranges.toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
    const last = merged.at(-1);
    if (!last || from > last.upTo) merged.push({ from, upTo });
    else if (upTo > last.upTo) last.upTo = upTo;
  }
  return merged;
}

function recentRange(link: string, day: LinkDayDocument): DayRange[] {
  const bots = hitsOfKind(day, "preview");
  const people = hitsOfKind(day, "click") + hitsOfKind(day, "qr_scan");
  if (people + bots === 0) return [];
  return [{ from: day.first, upTo: day.last, link, date: dateOf(day), people, bots }];
}

function daysOf(link: string) {
  return { field: "_id", from: dayOf(link, "0000-01-01"), to: `${dayOf(link, "9999-12-31")}~` };
}

/** Whether the selection may name a click of that UTC day. */
function isOnDay({ from, to }: Withdrawal, date: string): boolean {
  return from.slice(0, 10) <= date && to >= date;
}

function earlier(position: Position, other: Position): Position {
  return position < other ? position : other;
}

function later(position: Position, other: Position | undefined): Position {
  return other !== undefined && other > position ? other : position;
}
