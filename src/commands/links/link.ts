// Decider of one link. Pure: time, slug and identity are inputs.
import type { EventOf, LinkEvent } from "../../events/catalogue.ts";
import {
  blockOf,
  type LinkBlock,
  type LinkFlags,
  type NotedEnds,
  noFlags,
  notedAfter,
  type OwnStatus,
} from "../../events/link-events.ts";
import {
  type LinkOptions,
  OPTION_LIMITS,
  type OptionChanges,
  optionsOf,
  withOptions,
} from "../../events/link-options.ts";
import { linkKey } from "../../events/streams.ts";
import { STREAM_LIMITS } from "../../events/vocabulary.ts";
import { CLOCK_SKEW_MS } from "../../runtime/moment.ts";
import { Refused } from "../refusals.ts";
import { refuseUnknownRules, withRuleIds } from "./fields/rule-ids.ts";

/** What LinkCreated holds; `host`: without port. */
export type LinkDetails = Omit<EventOf<"LinkCreated">["data"], "at"> & { createdAt: string };

/**
 * `changes`: number of events after LinkCreated, which is the stream's revision; bounded by
 * STREAM_LIMITS.linkChanges. `changedAt`: the time of the last of them. `block`: the operator's, whatever the
 * status.
 */
export type ExistingLink = {
  status: OwnStatus;
  block?: LinkBlock | null | undefined;
  noted?: NotedEnds;
  changes: number;
  changedAt: string;
} & LinkFlags &
  LinkDetails;

export type LinkState = { status: "free" } | ExistingLink;

export const freeLink: LinkState = { status: "free" };

/** @throws link_not_found */
export function existing(link: LinkState): ExistingLink {
  if (link.status === "free") throw new Refused("link_not_found");
  return link;
}

/** A deleted link gives its external id up. */
export function externalIdOf(link: LinkState): string | undefined {
  return link.status === "free" || link.deleted ? undefined : link.externalId;
}

/**
 * Rules without an id get one.
 * @throws slug_taken also for a deleted link: its slug stays reserved, so that it can be restored; invalid_request
 * for options that contradict each other
 */
export function create(link: LinkState, c: LinkDetails): LinkEvent[] {
  if (link.status !== "free") throw slugTaken(c.host, c.slug);
  const { createdAt, ...facts } = c;
  if (facts.rules) facts.rules = withRuleIds(facts.rules, [], { link: linkKey(c.host, c.slug), revision: 0 });
  refuseContradiction(facts);
  refuseTooLarge(facts);
  return [{ type: "LinkCreated", data: { at: createdAt, ...facts } }];
}

/** One tag of a link instead of another: without `from` it gets one more, without `to` it loses one. */
export type Retag = { type: "retag"; from?: string | undefined; to?: string | undefined };

/** `keepsRuleIds`: ids of rules are taken whether the link has them or not, as of an import. */
export type LinkChange =
  | { type: "retarget"; to: string }
  | Retag
  | { type: "set"; options: OptionChanges; keepsRuleIds?: boolean }
  | { type: "disable" | "enable" | "delete" | "restore" };

/** What the operator does with a link. */
export type OperatorChange = { type: "block"; reason: string; legal: boolean } | { type: "unblock" };

/**
 * The link, which account `by` may change in this way.
 * @throws link_not_found, link_not_yours; blocked_by_operator for every change of a blocked link except `disable` and `delete`;
 * link_deleted for every change of a deleted link except `restore` and `delete`
 */
export function changeable(state: LinkState, by: string, type: LinkChange["type"]): ExistingLink {
  const link = existing(state);
  if (link.accountId !== by) throw new Refused("link_not_yours");
  if (type === "delete") return link;
  if (link.block && type !== "disable")
    throw new Refused(
      "blocked_by_operator",
      `The operator of this service has blocked this link: ${link.block.reason}`,
    );
  if (link.deleted && type !== "restore") throw new Refused("link_deleted");
  return link;
}

/**
 * A change that is in effect already yields no events; only what changes is in LinkOptionsChanged. A link that was
 * disabled when it was deleted is disabled when it is restored.
 * @throws what `changeable` throws; invalid_request for options that contradict each other; history_full for every
 * change except `disable` and `delete`
 */
export function change(state: LinkState, c: { by: string; at: string; change: LinkChange }): LinkEvent[] {
  const wanted = c.change;
  const link = changeable(state, c.by, wanted.type);
  const of = { host: link.host, slug: link.slug, accountId: link.accountId, at: c.at };
  switch (wanted.type) {
    case "disable":
      return link.disabled ? [] : [{ type: "LinkDisabled", data: of }];
    case "delete":
      return link.deleted ? [] : [{ type: "LinkDeleted", data: of }];
    case "enable":
      return link.disabled ? ifRoom(link, { type: "LinkEnabled", data: of }) : [];
    case "restore":
      return link.deleted ? ifRoom(link, { type: "LinkRestored", data: of }) : [];
    case "retarget": {
      const { longUrl: from } = link;
      const { to } = wanted;
      if (from === to) return [];
      refuseTooLarge({ ...link, longUrl: to });
      return ifRoom(link, { type: "LinkRetargeted", data: { ...of, from, to } });
    }
    case "retag": {
      const tags = retagged(link.tags, wanted);
      return change(state, {
        ...c,
        change: { type: "set", options: { tags: tags.length > 0 ? tags : null } },
      });
    }
    case "set": {
      const changes = effective(link, withIdsOfRules(link, wanted));
      if (Object.keys(changes).length === 0) return [];
      const changed = withOptions(link, changes);
      refuseContradiction(changed);
      refuseTooLarge(changed);
      return ifRoom(link, { type: "LinkOptionsChanged", data: { ...of, changes } });
    }
  }
}

/** The new tag stands where the old one stood; a link that lacks the old one stays as it is. @throws invalid_request */
function retagged(tags: readonly string[] = [], { from, to }: Retag): string[] {
  if (from !== undefined && !tags.includes(from)) return [...tags];
  const replaced = from === undefined ? [...tags, to] : tags.map((tag) => (tag === from ? to : tag));
  const next = [...new Set(replaced.filter((tag) => tag !== undefined))];
  if (next.length > OPTION_LIMITS.tags && next.length > tags.length)
    throw new Refused("invalid_request", `A link has at most ${OPTION_LIMITS.tags} tags`, { field: "tag" });
  return next;
}

/** @throws precondition_failed when the link has none of the revisions that its caller has seen */
export function refuseOther({ changes }: ExistingLink, ifRevision: readonly number[]): void {
  if (!ifRevision.includes(changes)) throw new Refused("precondition_failed");
}

/**
 * Several changes in one append, each of the link that those before it make. `ifRevision`: the revisions of the
 * stream that the caller accepts. @throws precondition_failed when it has another one by now; what `change` throws
 */
export function changeTogether(
  state: LinkState,
  c: { by: string; at: string; changes: readonly LinkChange[]; ifRevision?: readonly number[] | undefined },
): LinkEvent[] {
  const { by, at, changes, ifRevision } = c;
  if (ifRevision !== undefined && state.status !== "free") refuseOther(state, ifRevision);
  const events: LinkEvent[] = [];
  let link = state;
  for (const wanted of changes) {
    const next = change(link, { by, at, change: wanted });
    events.push(...next);
    link = next.reduce(evolve, link);
  }
  return events;
}

/** @throws invalid_request for an id that no rule of the link has */
function withIdsOfRules(
  { host, slug, changes, rules: before = [] }: ExistingLink,
  { options, keepsRuleIds = false }: Extract<LinkChange, { type: "set" }>,
): OptionChanges {
  if (!options.rules) return options;
  if (!keepsRuleIds) refuseUnknownRules(options.rules, before);
  const place = { link: linkKey(host, slug), revision: changes + 1 };
  return { ...options, rules: withRuleIds(options.rules, before, place) };
}

/** Those of the changes that are not in effect already. */
function effective(link: LinkOptions, changes: OptionChanges): OptionChanges {
  const isChange = ([name, value]: [string, unknown]) =>
    value !== undefined && JSON.stringify(value) !== JSON.stringify(link[name as keyof LinkOptions] ?? null);
  return Object.fromEntries(Object.entries(changes).filter(isChange));
}

/** @throws link_too_large */
function refuseTooLarge(link: LinkOptions & { longUrl: string }): void {
  const bytes = Buffer.byteLength(JSON.stringify({ ...optionsOf(link), longUrl: link.longUrl }));
  if (bytes > OPTION_LIMITS.all)
    throw new Refused(
      "link_too_large",
      `A link carries at most ${OPTION_LIMITS.all} bytes with its destination, and this would be ${bytes}: leave out rules or values`,
    );
}

/** What no link can have, whatever it had before. @throws invalid_request */
function refuseContradiction({ activeFrom, expiresAt }: LinkOptions): void {
  if (activeFrom !== undefined && expiresAt !== undefined && activeFrom >= expiresAt)
    throw new Refused("invalid_request", "active_from must be before expires_at", { field: "active_from" });
}

/** In effect already it yields no events; another reason is a new block. @throws link_not_found */
export function changeByOperator(
  link: LinkState,
  { at, change }: { at: string; change: OperatorChange },
): LinkEvent[] {
  const { host, slug, accountId, block } = existing(link);
  const of = { host, slug, accountId, at };
  if (change.type === "unblock") return block ? [{ type: "LinkUnblocked", data: of }] : [];
  const { reason, legal } = change;
  if (block?.reason === reason && block.legal === legal) return [];
  return [{ type: "LinkBlocked", data: { ...of, reason, ...(legal && { legal }) } }];
}

/**
 * What is noted of a link at which a visitor meets an end: past `expiresAt`, or with as many clicks and scans (`people`) as
 * `maxClicks` allows. Nothing while it is disabled, blocked or deleted, and nothing that is noted already; but an end that lies
 * in the future again, further than clocks may differ, is open again.
 */
export function reachEnd(link: LinkState, { at, people }: { at: string; people: number }): LinkEvent[] {
  if (link.status === "free") return [];
  const { host, slug, accountId, expiresAt, maxClicks, noted } = link;
  const of = { host, slug, accountId, at };
  const isNoted = expiresAt !== undefined && noted?.expiresAt === expiresAt;
  if (isNoted && Date.parse(expiresAt) > Date.parse(at) + CLOCK_SKEW_MS)
    return [{ type: "LinkReopened", data: { ...of, expiresAt } }];
  if (link.status !== "live" || link.block) return [];
  const events: LinkEvent[] = [];
  if (maxClicks !== undefined && people >= maxClicks && noted?.maxClicks !== maxClicks)
    events.push({ type: "LinkLimitReached", data: { ...of, maxClicks } });
  if (expiresAt !== undefined && Date.parse(expiresAt) <= Date.parse(at) && !isNoted)
    events.push({ type: "LinkExpired", data: { ...of, expiresAt } });
  return events;
}

function ifRoom({ changes }: ExistingLink, event: LinkEvent): LinkEvent[] {
  if (changes < STREAM_LIMITS.linkChanges) return [event];
  throw new Refused(
    "history_full",
    `This link has been changed ${STREAM_LIMITS.linkChanges} times, as often as one link can be: it can still be disabled or deleted; for anything else make a new link`,
  );
}

export function evolve(link: LinkState, event: LinkEvent): LinkState {
  if (event.type === "LinkCreated") {
    const { at, ...facts } = event.data;
    return { ...noFlags, changes: 0, createdAt: at, changedAt: at, ...facts };
  }
  if (link.status === "free") return link;
  const changed = linkAfter(link, event);
  const status = changed.deleted ? "deleted" : changed.disabled ? "disabled" : "live";
  return { ...changed, status, changes: link.changes + 1 };
}

/** What events after LinkCreated change, of the state that is decided on as of a read model's document. */
type ChangingFacts = LinkFlags &
  LinkOptions & {
    longUrl: string;
    block?: LinkBlock | null | undefined;
    noted?: NotedEnds;
    changedAt: string;
  };

/** The link after an event that isn't its first one. */
export function linkAfter<Link extends ChangingFacts>(
  before: Link,
  event: Exclude<LinkEvent, { type: "LinkCreated" }>,
): Link {
  const link = { ...before, changedAt: event.data.at };
  switch (event.type) {
    case "LinkRetargeted":
      return { ...link, longUrl: event.data.to };
    case "LinkOptionsChanged":
      return withOptions(link, event.data.changes);
    case "LinkDisabled":
      return { ...link, disabled: true };
    case "LinkEnabled":
      return { ...link, disabled: false };
    case "LinkDeleted":
      return { ...link, deleted: true };
    case "LinkRestored":
      return { ...link, deleted: false };
    case "LinkBlocked":
      return { ...link, block: blockOf(event.data) };
    case "LinkUnblocked":
      return { ...link, block: null };
    case "LinkExpired":
    case "LinkReopened":
    case "LinkLimitReached":
      return { ...link, noted: notedAfter(link.noted, event) };
    // Somebody's else that stands in the stream.
    default:
      return before;
  }
}

export function slugTaken(host: string, slug: string): Refused {
  return new Refused("slug_taken", `The slug ${slug} already exists on ${host}`);
}
