// Whom each rule of a link gets, and what is left for the link itself: of the visitors who fit a rule, those whom rules before
// it take are not its own. Pure.
import type { LinkRule } from "../../events/link-options.ts";
import { type Conditions, conditionsOf, speaks } from "./first-rule.ts";

/** Per cent of those visitors: the same number twice where it is the same for all of them. */
export type Reach = { least: number; most: number };

const ALL = 100;

/** Of each rule, of the visitors who fit its conditions. */
export function reachOfRules(rules: readonly Pick<LinkRule, "when">[]): Reach[] {
  const conditions = rules.map(({ when }) => conditionsOf(when));
  return conditions.map((own, index) => {
    const before = conditions.slice(0, index).map((other) => [shareOf(other), overlap(own, other)] as const);
    const sum = (counted: (how: Overlap) => boolean) =>
      before.reduce((spent, [share, how]) => spent + (counted(how) ? share : 0), 0);
    const taken = (spent: number) => rounded(Math.max(0, Math.min(shareOf(own), ALL - spent)));
    return { least: taken(sum((how) => how !== "none")), most: taken(sum((how) => how === "all")) };
  });
}

/** Per cent of the visitors at this moment for whom no condition but times and shares is met. */
export function leftForLink(rules: readonly Pick<LinkRule, "when">[], at: number): number {
  const conditions = rules.map(({ when }) => conditionsOf(when));
  const everybody = { ...conditionsOf({}), from: at, to: at + 1 };
  const spent = conditions
    .filter((other) => overlap(everybody, other) === "all")
    .reduce((sum, other) => sum + shareOf(other), 0);
  return rounded(Math.max(0, ALL - spent));
}

function shareOf({ share = ALL }: Conditions): number {
  return share;
}

/** Shares have two decimals at most, and their sums no more. */
function rounded(share: number): number {
  return Math.round(share * 1_000_000) / 1_000_000;
}

/** How many of the visitors who fit the conditions fit the others, too. */
type Overlap = "all" | "some" | "none";

function overlap(own: Conditions, other: Conditions): Overlap {
  const each = [
    overlapOfLists(own.device, other.device),
    overlapOfLists(own.os && [...own.os], other.os && [...other.os]),
    overlapOfLists(own.country, other.country),
    overlapOfLists(own.language, other.language, speaks),
    overlapOfTimes(own, other),
    overlapOfQueries(own, other),
  ];
  if (each.includes("none")) return "none";
  return each.every((how) => how === "all") ? "all" : "some";
}

/** Without a list everybody fits. */
function overlapOfLists<T>(
  own: readonly T[] | undefined,
  other: readonly T[] | undefined,
  within = (value: T, wider: T) => value === wider,
): Overlap {
  if (other === undefined) return "all";
  if (own === undefined) return "some";
  if (own.every((value) => other.some((wider) => within(value, wider)))) return "all";
  return own.some((value) => other.some((wider) => within(value, wider) || within(wider, value)))
    ? "some"
    : "none";
}

function overlapOfTimes(own: Conditions, other: Conditions): Overlap {
  if (own.from >= other.from && own.to <= other.to) return "all";
  return own.from < other.to && other.from < own.to ? "some" : "none";
}

/** A query may have several values of one name, so that none rules out another. */
function overlapOfQueries(own: Conditions, other: Conditions): Overlap {
  const isAsked = ([name, value]: Conditions["query"][number]) =>
    own.query.some(([ownName, ownValue]) => ownName === name && (value === true || ownValue === value));
  return other.query.every(isAsked) ? "all" : "some";
}
