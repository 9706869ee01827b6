// Invariants of each stream category, checked event by event in log order.

import { hash } from "node:crypto";
import {
  type AccountState,
  evolve as evolveAccount,
  noAccount,
  type OpenAccount,
} from "../commands/account/account.ts";
import { type ClaimState, evolveClaim, unclaimed } from "../commands/domains/decide-domain.ts";
import { type ExistingLink, evolve as evolveLink, freeLink, type LinkState } from "../commands/links/link.ts";
import { evolve as evolvePerson, newPerson, type PersonState } from "../commands/people/decide-person.ts";
import { personEvents } from "../events/accounts/account-events.ts";
import type {
  AccountEvent,
  DomainEvent,
  LinkEvent,
  PersonEvent,
  StoredEvent,
  WithdrawalEvent,
} from "../events/catalogue.ts";
import { gapEvents } from "../events/click-events.ts";
import { operatorEvents } from "../events/operator-events.ts";
import {
  accountStream,
  domainStream,
  LOG_STREAM,
  linkKey,
  linkStream,
  operatorStream,
  PREFIX,
  personStream,
  withdrawalStream,
} from "../events/streams.ts";
import { hasDeveloperFeatures } from "../events/vocabulary.ts";
import { type Withdrawal, withdrawalsAfter } from "../events/withdrawals.ts";

/** Returns the violation, or undefined. */
type Rule = (event: StoredEvent) => string | undefined;

/** `lose`: an event of the stream can't be read, so what depends on the state of the stream is not judged from then on. */
export type StreamRules = { violation: Rule; lose(stream: string): void };

/** Keeps the state of every account and hostname claim in memory, some 200 bytes of every link, and nothing per click. */
export function streamRules(): StreamRules {
  const lost = new Set<string>();
  const links = new Map<string, LinkState>();
  const byPrefix: [string, Rule][] = [
    [PREFIX.account, accountRule()],
    [PREFIX.domain, domainRule()],
    [PREFIX.link, linkRule(links)],
    [PREFIX.clicks, clickRule(links)],
    [PREFIX.withdrawals, withdrawalRule(links)],
    [PREFIX.gaps, gapRule],
    [PREFIX.operator, operatorRule],
    [PREFIX.person, personRule()],
    [LOG_STREAM, logRule],
  ];
  return {
    violation(event) {
      if (statesOf(event).some((stream) => lost.has(stream))) return undefined;
      return byPrefix.find(([prefix]) => event.stream.startsWith(prefix))?.[1](event);
    },
    lose: (stream) => void lost.add(stream),
  };
}

/** The streams whose state decides whether the event breaks a rule. */
function statesOf(event: StoredEvent): string[] {
  const { type, stream } = event;
  if (type === "LinkClicked") return [`${PREFIX.link}${event.data.link}`];
  if (!stream.startsWith(PREFIX.withdrawals)) return [stream];
  return [stream, `${PREFIX.link}${stream.slice(PREFIX.withdrawals.length)}`];
}

function accountRule(): Rule {
  const accounts = new Map<string, AccountState>();
  return (event) => {
    if (!("accountId" in event.data) || event.stream !== accountStream(event.data.accountId))
      return "belongs to another stream";
    const before = accounts.get(event.stream) ?? noAccount;
    const after = evolveAccount(before, event as AccountEvent);
    accounts.set(event.stream, after);
    if ((event.type === "AccountOpened") !== (before.status === "absent"))
      return before.status === "absent" ? "comes before AccountOpened" : "opens the account again";
    if (before.status === "closed") return "comes after AccountClosed";
    return after.status === "open" ? limitProblem(after, event as AccountEvent) : undefined;
  };
}

/**
 * Of tiers checked only on the event that adds something, because a downgrade takes nothing away. How many is the operator's to
 * set.
 */
function limitProblem(account: OpenAccount, { type }: AccountEvent): string | undefined {
  const isOfMembers = type === "MemberRemoved" || type === "MemberRoleChanged";
  if (isOfMembers && ![...account.members.values()].some(({ role }) => role === "owner"))
    return "leaves the account without an owner";
  if ((type === "WebhookAdded" || type === "DomainAdded") && !hasDeveloperFeatures(account.tier))
    return `${type} on the ${account.tier} tier`;
  return undefined;
}

function domainRule(): Rule {
  const claims = new Map<string, ClaimState>();
  return (event) => {
    const { type, data } = event as DomainEvent;
    if (!("hostname" in data) || event.stream !== domainStream(data.hostname))
      return "belongs to another stream";
    const before = claims.get(event.stream) ?? unclaimed;
    claims.set(event.stream, evolveClaim(before, event as DomainEvent));
    if (type === "DomainClaimed" && before.status === "claimed" && before.accountId !== data.accountId)
      return `claimed while it belongs to account ${before.accountId}`;
    if (type === "DomainReleased" && (before.status !== "claimed" || before.domainId !== data.domainId))
      return "released by who does not hold it";
    return undefined;
  };
}

function linkRule(links: Map<string, LinkState>): Rule {
  /** The same text for all links of an account. */
  const owners = new Map<string, string>();
  return (event) => {
    const { type, data } = event as LinkEvent;
    const isOperators = type === "LinkBlocked" || type === "LinkUnblocked";
    if (!("slug" in data) || !("host" in data) || event.stream !== linkStream(data.host, data.slug))
      return "belongs to another stream";
    const before = links.get(event.stream) ?? freeLink;
    links.set(event.stream, judged(evolveLink(before, event as LinkEvent)));
    if (type === "LinkCreated") return before.status === "free" ? undefined : "the slug was taken";
    if (before.status === "free") return "comes before LinkCreated";
    if (before.accountId !== data.accountId)
      return `changed by account ${data.accountId}, which does not own it`;
    if (isOperators) return wasByOperator(event);
    // The service's note, whatever a visitor meets: that may end before the link does.
    if (type === "LinkReopened") return undefined;
    if (before.deleted && type !== "LinkRestored") return "changed after LinkDeleted";
    if (before.block && type !== "LinkDisabled" && type !== "LinkDeleted")
      return "changed while it was blocked";
    if (type === "LinkRetargeted" && digest(data.from) !== before.longUrl)
      return "retargeted from where it did not lead";
    return undefined;
  };

  /** What of it rules look at: a million links fit into memory, whatever each carries. */
  function judged(link: LinkState): LinkState {
    if (link.status === "free") return link;
    const { status, accountId, deleted, block, longUrl } = link;
    if (!owners.has(accountId)) owners.set(accountId, accountId);
    const owner = owners.get(accountId) as string;
    return {
      status,
      accountId: owner,
      deleted,
      block: block && BLOCKED,
      longUrl: digest(longUrl),
    } as LinkState;
  }
}

const BLOCKED = {} as NonNullable<ExistingLink["block"]>;
const DIGEST = "#";

/** Itself where it is one: no address begins so. */
function digest(longUrl: string): string {
  return longUrl.startsWith(DIGEST) ? longUrl : DIGEST + hash("sha256", longUrl, "base64url").slice(0, 16);
}

function clickRule(links: ReadonlyMap<string, LinkState>): Rule {
  return (event) => {
    if (event.type !== "LinkClicked") return "is no click";
    const { link, accountId, ip } = event.data;
    const clicked = links.get(`${PREFIX.link}${link}`);
    if (!clicked || clicked.status === "free") return `click of ${link}, which was never created`;
    if (clicked.accountId !== accountId) return `click for account ${accountId}, which does not own ${link}`;
    if (ip !== undefined && !isAnonymised(ip)) return "its address is not anonymised";
    return undefined;
  };
}

function withdrawalRule(links: ReadonlyMap<string, LinkState>): Rule {
  const byStream = new Map<string, readonly Withdrawal[]>();
  return (event) => {
    const { type, data } = event as WithdrawalEvent;
    if (!("withdrawalId" in data)) return "is no withdrawal";
    const key = linkKey(data.host, data.slug);
    if (event.stream !== withdrawalStream(key)) return "belongs to another stream";
    const link = links.get(`${PREFIX.link}${key}`);
    if (!link || link.status === "free") return `withdraws clicks of ${key}, which was never created`;
    if (link.accountId !== data.accountId)
      return `names account ${data.accountId}, which does not own ${key}`;
    const before = byStream.get(event.stream) ?? [];
    byStream.set(event.stream, withdrawalsAfter(before, event));
    if (event.type === "ClicksWithdrawn" && event.data.upTo >= event.position)
      return "withdraws clicks that come after it";
    const isInForce = before.some(({ withdrawalId }) => withdrawalId === data.withdrawalId);
    if (type === "ClicksWithdrawn" && isInForce) return "withdraws the same clicks twice";
    if (type === "ClicksRestored" && !isInForce) return "restores clicks that are not withdrawn";
    return undefined;
  };
}

function operatorRule(event: StoredEvent): string | undefined {
  if (!(event.type in operatorEvents) || event.stream !== operatorStream(new Date(event.data.at)))
    return "belongs to another stream";
  return wasByOperator(event);
}

function personRule(): Rule {
  const persons = new Map<string, PersonState>();
  return (event) => {
    const { data } = event as PersonEvent;
    if (!(event.type in personEvents) || event.stream !== personStream(data.personId))
      return "belongs to another stream";
    const before = persons.get(event.stream) ?? newPerson;
    persons.set(event.stream, evolvePerson(before, event as PersonEvent));
    if (before.status === "removed") return "comes after PersonRemoved";
    return event.type === "PersonRegistered" && event.revision > 0 ? "registers the person again" : undefined;
  };
}

function logRule({ type, revision }: StoredEvent): string | undefined {
  return type === "LogBegun" && revision === 0 ? undefined : "the log has begun before";
}

function gapRule({ type, data }: StoredEvent): string | undefined {
  if (!(type in gapEvents)) return "belongs to another stream";
  return "until" in data && "from" in data && data.from > data.until ? "ends before it begins" : undefined;
}

function wasByOperator({ metadata }: StoredEvent): string | undefined {
  return metadata.actor?.type === "operator" ? undefined : "was not done by the operator";
}

/** As events keep addresses: IPv4 /24, IPv6 /48. */
function isAnonymised(ip: string): boolean {
  return /^\d{1,3}\.\d{1,3}\.\d{1,3}\.0$/.test(ip) || /^([0-9a-f]{1,4}(:[0-9a-f]{1,4}){0,2})?::$/.test(ip);
}
