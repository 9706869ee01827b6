// Checks that counts which are kept in several places add up: breakdowns to totals, days to links, links to accounts.
import { CLICK_KINDS, type ClickKind } from "../../events/vocabulary.ts";
import type { Document } from "../../stores/read-store/port.ts";
import { DIMENSIONS } from "../definitions/click-dimensions.ts";
import { type AccountDayDocument, accountDays, dayOf, hitsOf } from "../definitions/days/days.ts";
import type { LinkDay, LinkDayDocument } from "../definitions/days/link-day.ts";
import { earlierOf, type LinkClicksDocument, linkClicks } from "../definitions/link-clicks.ts";
import { type Tally, valueCounts } from "../definitions/tally.ts";
import { partsCollection } from "../projection.ts";

/** `what`: such as `countries of sho.rt/x`; `sum`: what its parts add up to; `total`: what they should add up to. */
export type SumFailure = { what: string; sum: number; total: number };

export type SumChecks = {
  /** Adds a document of that projection, or of its parts (`partsCollection` of its name). */
  see(projection: string, document: Document): void;
  failures(): SumFailure[];
};

/**
 * For projections that were folded up to the same position. `isWhole`: whether all of their documents are seen, so that
 * sums over several of them can be checked.
 */
export function sumChecks(isWhole: boolean): SumChecks {
  const found: SumFailure[] = [];
  const check = (what: string, sum: number, total: number) => {
    if (sum !== total) found.push({ what, sum, total });
  };
  const ofLinks = counter();
  const ofLinkDays = counter();
  const ofBreakdowns = counter();
  const byAccount = counter();
  const ofAccountDays = counter();
  const checkBreakdowns = (id: string, { kinds }: LinkDay, hits: (kind: ClickKind) => number) => {
    for (const kind of CLICK_KINDS)
      for (const [n, name] of DIMENSIONS.entries())
        check(`${name} of ${kind} of ${id}`, tallied(kinds[kind]?.tallies[n] ?? []), hits(kind));
  };
  const seeDay = (link: string, id: string, day: LinkDay) => {
    checkBreakdowns(id, day, (kind) =>
      sumOf(day.quarters.map((quarter) => quarter[CLICK_KINDS.indexOf(kind) + 1] ?? 0)),
    );
    ofLinkDays.add(link, hitsOf(day));
  };
  /** By the first dimension, which the others must agree with. */
  const seeEarlier = (link: string, sum: LinkDay) => {
    const hits = (kind: ClickKind) => tallied(sum.kinds[kind]?.tallies[0] ?? []);
    checkBreakdowns(earlierOf(link), sum, hits);
    ofBreakdowns.add(link, sumOf(CLICK_KINDS.map(hits)));
  };
  const see: Record<string, (document: Document) => void> = {
    [linkClicks.name](document) {
      const clicks = document as LinkClicksDocument;
      const { _id: link, totalClicks, date, day } = clicks;
      check(`kinds of ${link}`, sumOf(CLICK_KINDS.map((kind) => clicks[kind])), totalClicks);
      check(`people of ${link}`, clicks.people, clicks.click + clicks.qr_scan);
      seeDay(link, dayOf(link, date), day);
      ofBreakdowns.add(link, hitsOf(day));
      ofLinks.add(link, totalClicks);
      byAccount.add(clicks.accountId, totalClicks);
    },
    [partsCollection(linkClicks.name)](document) {
      const part = document as LinkDayDocument;
      const link = part._id.slice(0, part._id.lastIndexOf("@"));
      if (part._id === earlierOf(link)) seeEarlier(link, part);
      else seeDay(link, part._id, part);
    },
    [accountDays.name](document) {
      const day = document as AccountDayDocument;
      const hits = hitsOf(day);
      check(`links of ${day._id}`, sumOf(day.links.map(([, people, bots]) => people + bots)), hits);
      ofAccountDays.add(subjectOf(day), hits);
    },
  };
  return {
    see: (projection, document) => see[projection]?.(document),
    failures() {
      if (!isWhole) return found;
      ofLinkDays.compare(ofLinks, (link, sum, total) => check(`days of ${link}`, sum, total));
      ofBreakdowns.compare(ofLinks, (link, sum, total) => check(`breakdowns of ${link}`, sum, total));
      ofAccountDays.compare(byAccount, (account, sum, total) => check(`days of ${account}`, sum, total));
      return found;
    },
  };
}

type Counter = {
  counts: ReadonlyMap<string, number>;
  add(key: string, count: number): void;
  compare(whole: Counter, check: (key: string, sum: number, total: number) => void): void;
};

function counter(): Counter {
  const counts = new Map<string, number>();
  return {
    counts,
    add: (key, count) => void counts.set(key, (counts.get(key) ?? 0) + count),
    /** Nothing is compared with a projection that was not verified. */
    compare(whole, check) {
      if (counts.size === 0 || whole.counts.size === 0) return;
      for (const key of new Set([...counts.keys(), ...whole.counts.keys()]))
        check(key, counts.get(key) ?? 0, whole.counts.get(key) ?? 0);
    },
  };
}

/** Of `<subject>@YYYY-MM-DD`. */
function subjectOf({ _id }: Document): string {
  return _id.slice(0, -11);
}

function tallied(tally: Tally): number {
  return sumOf(valueCounts(tally).map(([, count]) => count));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
