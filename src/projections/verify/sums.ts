// Checks that counts which are kept in several places add up: breakdowns to totals, days to links, links to accounts.
import { CLICK_KINDS } from "../../events/vocabulary.ts";
import type { Document } from "../../read-store/port.ts";
import type { AccountTotalsDocument } from "../definitions/account-totals.ts";
import { accountTotals } from "../definitions/account-totals.ts";
import { DIMENSIONS } from "../definitions/click-dimensions.ts";
import { accountDays, type DayDocument } from "../definitions/days/days.ts";
import { type LinkDayDocument, linkDays } from "../definitions/days/link-days.ts";
import { type LinkClicksDocument, linkClicks } from "../definitions/link-clicks.ts";
import { type Tally, valueCounts } from "../definitions/tally.ts";

/** `what`: such as `countries of sho.rt/x`; `sum`: what its parts add up to; `total`: what they should add up to. */
export type SumFailure = { what: string; sum: number; total: number };

export type SumChecks = {
  /** Adds a document of that projection. */
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
  const byAccount = counter();
  const ofAccounts = counter();
  const ofAccountDays = counter();
  const see: Record<string, (document: Document) => void> = {
    [linkClicks.name](document) {
      const clicks = document as LinkClicksDocument;
      const { _id: link, totalClicks } = clicks;
      check(`kinds of ${link}`, sumOf(CLICK_KINDS.map((kind) => clicks[kind])), totalClicks);
      for (const name of DIMENSIONS) check(`${name} of ${link}`, tallied(clicks[name]), totalClicks);
      ofLinks.add(link, totalClicks);
      byAccount.add(clicks.accountId, totalClicks);
    },
    [linkDays.name](document) {
      const day = document as LinkDayDocument;
      for (const [n, kind] of CLICK_KINDS.entries()) {
        const hits = sumOf(day.quarters.map((quarter) => quarter[n + 1] ?? 0));
        for (const [dimension, name] of DIMENSIONS.entries()) {
          const tally = day.kinds[kind]?.tallies[dimension] ?? [];
          check(`${name} of ${kind} of ${day._id}`, tallied(tally), hits);
        }
      }
      ofLinkDays.add(subjectOf(document), hitsOf(day));
    },
    [accountDays.name]: (document) => ofAccountDays.add(subjectOf(document), hitsOf(document as DayDocument)),
    [accountTotals.name](document) {
      const totals = document as AccountTotalsDocument;
      ofAccounts.add(document._id, sumOf(CLICK_KINDS.map((kind) => totals[kind])));
    },
  };
  return {
    see: (projection, document) => see[projection]?.(document),
    failures() {
      if (!isWhole) return found;
      ofLinkDays.compare(ofLinks, (link, sum, total) => check(`days of ${link}`, sum, total));
      byAccount.compare(ofAccounts, (account, sum, total) => check(`links of ${account}`, sum, total));
      ofAccountDays.compare(ofAccounts, (account, sum, total) => check(`days of ${account}`, sum, total));
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

function hitsOf({ quarters }: DayDocument): number {
  return sumOf(quarters.map(([, ...hits]) => sumOf(hits)));
}

function tallied(tally: Tally): number {
  return sumOf(valueCounts(tally).map(([, count]) => count));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
