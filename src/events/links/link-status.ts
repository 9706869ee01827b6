// What a visitor meets at a link: the one answer of redirects, API, pages, commands, explanations and exports.
import type { LinkFlags } from "../link-events.ts";
import type { LinkOptions } from "../link-options.ts";

export const LINK_STATUSES = [
  "live",
  "scheduled",
  "expired",
  "used_up",
  "disabled",
  "blocked",
  "deleted",
  "domain_inactive",
] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

/**
 * What the link's own events say of it. Times in milliseconds since 1970; without a time or a limit they are infinite, and
 * nothing is decided by them.
 */
export type StatusFacts = LinkFlags & {
  isBlocked: boolean;
  activeFrom: number;
  expiresAt: number;
  maxClicks: number;
};

/** `block`: the operator's. Documents hold null where events omit a member. */
export function statusFacts(
  link: LinkFlags & LinkOptions & { block?: object | null | undefined },
): StatusFacts {
  const { disabled, deleted, block, activeFrom, expiresAt, maxClicks } = link;
  return {
    disabled,
    deleted,
    isBlocked: block !== null && block !== undefined,
    activeFrom: activeFrom ? Date.parse(activeFrom) : Number.NEGATIVE_INFINITY,
    expiresAt: expiresAt ? Date.parse(expiresAt) : Number.POSITIVE_INFINITY,
    maxClicks: maxClicks ?? Number.POSITIVE_INFINITY,
  };
}

/**
 * `now`: milliseconds since 1970. `people`: how many clicks and scans the link has. `isServed`: whether its domain is verified
 * and active; the base host always is.
 */
export function linkStatus(
  { deleted, isBlocked, disabled, activeFrom, expiresAt, maxClicks }: StatusFacts,
  { now, people, isServed }: { now: number; people: number; isServed: boolean },
): LinkStatus {
  if (deleted) return "deleted";
  if (!isServed) return "domain_inactive";
  if (isBlocked) return "blocked";
  if (disabled) return "disabled";
  if (now < activeFrom) return "scheduled";
  if (now >= expiresAt) return "expired";
  return people >= maxClicks ? "used_up" : "live";
}

/** The status on a domain that serves it; `conditional` where it depends on time or clicks. */
export const COARSE_STATUSES = ["live", "conditional", "disabled", "blocked", "deleted"] as const;
export type CoarseStatus = (typeof COARSE_STATUSES)[number];

export function coarseStatus(facts: StatusFacts): CoarseStatus {
  const { activeFrom, expiresAt, maxClicks } = facts;
  const isConditional = [activeFrom, expiresAt, maxClicks].some(Number.isFinite);
  const unconditional = { now: activeFrom, people: 0, isServed: true };
  const status = linkStatus({ ...facts, expiresAt: Number.POSITIVE_INFINITY }, unconditional);
  return status === "live" && isConditional ? "conditional" : (status as CoarseStatus);
}
