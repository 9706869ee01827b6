// Decider of an account, and the fold of its whole stream, on whose members, keys, domains, webhooks and settings the other
// deciders decide. Pure.
import type { SavedFilter } from "../../events/accounts/account-events.ts";
import type { AccountEvent, EventOf } from "../../events/catalogue.ts";
import type { QrStyle } from "../../events/links/qr-look.ts";
import {
  type KeyScope,
  type Role,
  STREAM_LIMITS,
  type TagColour,
  type Tier,
  type WebhookPauseCause,
  type WebhookPauser,
} from "../../events/vocabulary.ts";
import { type ChosenSelection, selectionOf, type WebhookSelection } from "../../events/webhook-selection.ts";
import { Refused } from "../refusals.ts";

/** `recordLostAt`: when a daily check first found the TXT record missing; null if the last check found it. */
export type VerifiedDomain = {
  state: "active" | "inactive";
  hostname: string;
  token: string;
  domainId: string;
  proven: "dns" | "operator";
  recordLostAt: string | null;
};

/** `added` has no id yet: verification issues it (interface, part 2). */
export type Domain = { state: "added"; hostname: string; token: string } | VerifiedDomain;

/** Absent scopes, networks and `expiresAt`: the usual ones, everywhere, for ever. */
export type KeyTerms = {
  scopes?: KeyScope[] | undefined;
  /** ISO 8601 UTC. */
  expiresAt?: string | undefined;
  /** CIDR. */
  networks?: string[] | undefined;
};

/** A text that a rotation has replaced. `until`: ISO 8601 UTC, accepted before that. */
export type EarlierText = { keyHash: string; hint: string; until: string };

/**
 * `keyHash`: SHA-256 of the key in hex. `earlier`: oldest first, those that were accepted after the last rotation. `personId`:
 * whose it is; absent for one of the account.
 */
export type AccountKey = KeyTerms & {
  status: "active";
  personId?: string | undefined;
  keyHash: string;
  hint: string;
  earlier?: readonly EarlierText[];
};

export type WebhookSettings = { url: string; label: string } & WebhookSelection;

export type LiveWebhook = WebhookSettings & { webhookId: string } & (
    | { status: "active" }
    | { status: "paused"; pausedBy: WebhookPauser; cause: WebhookPauseCause | undefined }
  );

/** `invitedBy`: the person or API key whose role bounds it; absent for the operator. `expiresAt`: ISO 8601 UTC. */
export type Invitation = { role: Role; invitedBy?: string | undefined; at: string; expiresAt: string };

/** `joinedAt`: ISO 8601 UTC. `isByGroup`: of a group at the provider, with which the membership ends. */
export type Member = { role: Role; joinedAt: string; isByGroup?: boolean };

/** What visitors see of the account; absent where it has chosen nothing. `colour`: `#` and six hex digits. */
export type Brand = {
  name?: string | undefined;
  colour?: string | undefined;
  /** Instead of expired and unknown links of its domains. */
  fallbackUrl?: string | undefined;
};

export type SharedPage = Omit<EventOf<"SharedPageMade">["data"], "accountId">;
export type WeeklyMail = Omit<EventOf<"WeeklyMailBegun">["data"], "accountId">;

/** Deciders only read it; `evolve` mutates it. */
export type OpenAccount = {
  status: "open";
  accountId: string;
  tier: Tier;
  /** By person id. */
  members: Map<string, Member>;
  /** By invitation id, those that are neither accepted nor withdrawn; they may have expired. */
  invitations: Map<string, Invitation>;
  /** By key id; every key that was ever issued. */
  keys: Map<string, AccountKey | { status: "deactivated" }>;
  /** By hostname, without removed ones. */
  domains: Map<string, Domain>;
  /** By hostname, the id of each domain that was ever verified, including those removed since. */
  domainIds: Map<string, string>;
  /** Ever added, including those removed since. */
  domainsAdded: number;
  /** By webhook id; removed ones stay, so that an interrupted removal can be repeated. */
  webhooks: Map<string, LiveWebhook | { status: "removed" }>;
  timeZone: string | null;
  /** By tag, those that have one. */
  tagColours: Map<string, TagColour>;
  /** By name, in the order in which they were saved first. */
  savedFilters: Map<string, SavedFilter>;
  brand: Brand;
  qrLook: QrStyle | null;
  logos: { everSet: number; isSet: boolean };
  /** By id, without ended ones. */
  sharedPages: Map<string, SharedPage>;
  /** By id, without stopped ones. */
  weeklyMails: Map<string, WeeklyMail>;
  /** Length of the stream, for `withRoom`. */
  events: number;
};

export type AccountState = { status: "absent" } | { status: "closed"; accountId: string } | OpenAccount;

export const noAccount: AccountState = { status: "absent" };

/** @throws account_exists also for a closed account: ids are not reused */
export function open(
  account: AccountState,
  c: { accountId: string; tier: Tier; ownerId?: string; at: string },
): AccountEvent[] {
  if (account.status !== "absent") throw new Refused("account_exists");
  return [{ type: "AccountOpened", data: c }];
}

/** Active keys beyond the new tier's limit keep working; only issuing is refused. @throws account_not_found */
export function changeTierTo(account: AccountState, c: { tier: Tier; at: string }): AccountEvent[] {
  const { accountId, tier } = opened(account);
  if (tier === c.tier) return [];
  return [{ type: "TierChanged", data: { accountId, from: tier, to: c.tier, at: c.at } }];
}

/** Idempotent. @throws account_not_found */
export function close(account: AccountState, c: { at: string }): AccountEvent[] {
  if (account.status === "closed") return [];
  const { accountId } = opened(account);
  return [{ type: "AccountClosed", data: { accountId, at: c.at } }];
}

/** Paused ones count, removed ones don't. */
export function liveWebhooks({ webhooks }: Pick<OpenAccount, "webhooks">): number {
  return [...webhooks.values()].filter(({ status }) => status !== "removed").length;
}

/** @throws account_not_found when it was never opened or is closed */
export function opened(account: AccountState): OpenAccount {
  if (account.status !== "open") throw new Refused("account_not_found");
  return account;
}

/** The open account, for commands that can be repeated without limit. @throws account_not_found, history_full */
export function withRoom(account: AccountState): OpenAccount {
  const open = opened(account);
  if (open.events < STREAM_LIMITS.accountEvents) return open;
  throw new Refused(
    "history_full",
    `The history of this account holds ${STREAM_LIMITS.accountEvents} changes, as many as it can: deactivating, pausing, removing and closing still work; for anything else open another account`,
  );
}

/** Mutates and returns the open account: copying its maps for each event would make loading quadratic. */
export function evolve(account: AccountState, event: AccountEvent): AccountState {
  if (event.type === "AccountOpened") {
    const { accountId, tier, ownerId = accountId, at } = event.data;
    const maps = { keys: new Map(), domains: new Map(), domainIds: new Map(), webhooks: new Map() };
    const logos = { everSet: 0, isSet: false };
    const state = {
      ...maps,
      members: new Map([[ownerId, { role: "owner", joinedAt: at } as const]]),
      invitations: new Map(),
      tagColours: new Map(),
      savedFilters: new Map(),
      domainsAdded: 0,
      timeZone: null,
      brand: {},
      qrLook: null,
      logos,
      sharedPages: new Map(),
      weeklyMails: new Map(),
      events: 1,
    };
    return { status: "open", accountId, tier, ...state };
  }
  if (account.status !== "open") return account;
  if (event.type === "AccountClosed") return { status: "closed", accountId: account.accountId };
  account.events += 1;
  if (event.type === "TierChanged") account.tier = event.data.to;
  else if (event.type === "TimeZoneChosen") account.timeZone = event.data.timeZone;
  else if (event.type === "TagColoured") evolveTag(account, event);
  else if (event.type === "FilterSaved") evolveFilter(account, event);
  else if (event.type === "BrandChanged") account.brand = brandOf(event.data);
  else if (event.type === "QrLookChanged") account.qrLook = qrLookOf(event.data);
  else if (event.type === "LogoChanged") evolveLogos(account, event.data.image);
  else if (isOfMember(event)) evolveMember(account, event);
  else if (isOfSharing(event)) evolveSharing(account, event);
  else if (isOfKey(event)) evolveKey(account, event);
  else if (isOfWebhook(event)) evolveWebhook(account, event);
  else evolveDomain(account, event);
  return account;
}

function brandOf({ name, colour, fallbackUrl }: Brand): Brand {
  return { name, colour, fallbackUrl };
}

function qrLookOf({ accountId: _, at: __, ...look }: EventOf<"QrLookChanged">["data"]): QrStyle {
  return look;
}

function evolveLogos({ logos }: OpenAccount, image: string | null): void {
  logos.isSet = image !== null;
  if (logos.isSet) logos.everSet += 1;
}

type MemberEvent = Extract<AccountEvent, { type: `Member${string}` | "InvitationWithdrawn" }>;

function isOfMember(event: AccountEvent): event is MemberEvent {
  const { type } = event;
  return type.startsWith("Member") || type === "InvitationWithdrawn";
}

function evolveMember({ members, invitations }: OpenAccount, { type, data }: MemberEvent): void {
  if (type === "MemberInvited") {
    const { invitationId, role, invitedBy, at, expiresAt } = data;
    invitations.set(invitationId, { role, invitedBy, at, expiresAt });
  } else if (type === "InvitationWithdrawn") invitations.delete(data.invitationId);
  else if (type === "MemberRoleChanged") {
    const member = members.get(data.personId);
    if (member) members.set(data.personId, { ...member, role: data.to });
  } else if (type === "MemberRemoved") members.delete(data.personId);
  else {
    if (data.invitationId !== undefined) invitations.delete(data.invitationId);
    const isByGroup = data.through === "group" && { isByGroup: true };
    members.set(data.personId, { role: data.role, joinedAt: data.at, ...isByGroup });
  }
}

type SharingEvent = Extract<AccountEvent, { type: `${"SharedPage" | "WeeklyMail"}${string}` }>;

function isOfSharing(event: AccountEvent): event is SharingEvent {
  return "pageId" in event.data || "mailId" in event.data;
}

function evolveSharing({ sharedPages, weeklyMails }: OpenAccount, { type, data }: SharingEvent): void {
  if (type === "SharedPageMade") sharedPages.set(data.pageId, data);
  else if (type === "SharedPageEnded") sharedPages.delete(data.pageId);
  else if (type === "WeeklyMailBegun") weeklyMails.set(data.mailId, data);
  else weeklyMails.delete(data.mailId);
}

type KeyEvent = Extract<AccountEvent, { type: `Key${string}` }>;

function isOfKey(event: AccountEvent): event is KeyEvent {
  return "keyId" in event.data;
}

function evolveKey({ keys }: OpenAccount, event: KeyEvent): void {
  const { keyId } = event.data;
  const key = keys.get(keyId);
  if (event.type === "KeyIssued") {
    const { keyHash, hint, scopes, expiresAt, networks, personId } = event.data;
    keys.set(keyId, { status: "active", keyHash, hint, scopes, expiresAt, networks, personId });
  } else if (event.type === "KeyDeactivated") {
    keys.set(keyId, { status: "deactivated" });
  } else if (key?.status === "active") {
    const { keyHash, hint } = event.data;
    keys.set(keyId, { ...key, keyHash, hint, earlier: earlierTexts(key, event.data) });
  }
}

/**
 * The texts of a key that are accepted besides the new one after a rotation. Each keeps the end that it was promised, unless
 * the rotation chose an earlier one, as for a key that leaked.
 */
export function earlierTexts(
  { keyHash, hint, earlier = [] }: Pick<AccountKey, "keyHash" | "hint" | "earlier">,
  { previousUntil, at }: { previousUntil: string; at: string },
): EarlierText[] {
  const capped = earlier.map((text) =>
    text.until < previousUntil ? text : { ...text, until: previousUntil },
  );
  return [...capped, { keyHash, hint, until: previousUntil }].filter(({ until }) => until > at);
}

function evolveDomain(account: OpenAccount, event: Extract<AccountEvent, { type: `Domain${string}` }>): void {
  const { domains, domainIds } = account;
  const { hostname } = event.data;
  const domain = domains.get(hostname);
  if (event.type === "DomainAdded") {
    domains.set(hostname, { state: "added", hostname, token: event.data.token });
    account.domainsAdded += 1;
  } else if (event.type === "DomainRemoved") {
    domains.delete(hostname);
  } else if (event.type === "DomainVerified") {
    const { domainId, how: proven } = event.data;
    domainIds.set(hostname, domainId);
    if (domain) domains.set(hostname, { ...domain, state: "inactive", domainId, proven, recordLostAt: null });
  } else if (domain && domain.state !== "added") {
    if (event.type === "DomainActivated") domain.state = "active";
    else if (event.type === "DomainDeactivated") domain.state = "inactive";
    else if (event.type === "DomainRecordLost") domain.recordLostAt = event.data.at;
    else if (event.type === "DomainRecordFound") domain.recordLostAt = null;
  }
}

function evolveTag({ tagColours }: OpenAccount, { data }: EventOf<"TagColoured">): void {
  if (data.colour === null) tagColours.delete(data.tag);
  else tagColours.set(data.tag, data.colour);
}

function evolveFilter({ savedFilters }: OpenAccount, { data }: EventOf<"FilterSaved">): void {
  if (data.filter === null) savedFilters.delete(data.name);
  else savedFilters.set(data.name, data.filter);
}

type WebhookEvent = Extract<AccountEvent, { type: `Webhook${string}` }>;

function isOfWebhook(event: AccountEvent): event is WebhookEvent {
  return "webhookId" in event.data;
}

function evolveWebhook({ webhooks }: OpenAccount, event: WebhookEvent): void {
  const { webhookId } = event.data;
  if (event.type === "WebhookAdded") {
    webhooks.set(webhookId, { status: "active", webhookId, ...settingsOf(event.data) });
    return;
  }
  const webhook = webhooks.get(webhookId);
  if (!webhook || webhook.status === "removed") return;
  const settings = { webhookId, ...settingsOf(event.type === "WebhookChanged" ? event.data : webhook) };
  if (event.type === "WebhookChanged") webhooks.set(webhookId, { ...webhook, ...settings });
  else if (event.type === "WebhookResumed") webhooks.set(webhookId, { status: "active", ...settings });
  else if (event.type === "WebhookRemoved") webhooks.set(webhookId, { status: "removed" });
  else if (event.type === "WebhookPaused") {
    const { by: pausedBy, cause } = event.data;
    webhooks.set(webhookId, { status: "paused", pausedBy, cause, ...settings });
  }
}

function settingsOf({ url, label, ...chosen }: ChosenSelection & { url: string; label: string }) {
  return { url, label, ...selectionOf(chosen) } satisfies WebhookSettings;
}
