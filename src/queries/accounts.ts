// Accounts with their keys and what they use of their tier's limits, for the command line, the console and the portal.
import type { AccountState } from "../commands/account/account.ts";
import { loadAccount } from "../commands/account/account-stream.ts";
import { keyUseSecret } from "../commands/account/change-keys.ts";
import { upgradeRequestedAt } from "../commands/account/tier.ts";
import { personWithEmail } from "../commands/people/email.ts";
import { isRefused, Refused } from "../commands/refusals.ts";
import { linkKey } from "../events/streams.ts";
import {
  hasDeveloperFeatures,
  INTERFACE_LIMITS,
  type Limits,
  type Tier,
  USUAL_SCOPES,
} from "../events/vocabulary.ts";
import { type AccountDocument, accounts } from "../projections/definitions/accounts.ts";
import { domains } from "../projections/definitions/domains.ts";
import { type KeyDocument, keys } from "../projections/definitions/keys.ts";
import { webhooks } from "../projections/definitions/webhooks.ts";
import { hostName } from "../runtime/addresses/host-name.ts";
import type { EventStore } from "../stores/event-store/port.ts";
import { allDocuments } from "../stores/read-store/document-pages.ts";
import type { ReadStore } from "../stores/read-store/port.ts";
import type { Secrets } from "../stores/secrets/port.ts";
import { readPage } from "./cursor.ts";
import { domainRow, domainsNamed, listDomains } from "./domains.ts";
import { linkFromStream } from "./links/find-link.ts";
import type { StatusDeps } from "./links/link-statuses.ts";
import { accountLinks, countLinks } from "./links/list-links.ts";
import { namedLink } from "./links/named-link.ts";
import { accountsOf, ownerEmail } from "./people.ts";
import { listWebhooks, webhookRow } from "./webhooks.ts";

type Deps = { readStore: ReadStore };
type SecretDeps = Deps & { secrets: Secrets; clock: () => Date };

export type FindAccountDeps = SecretDeps & { eventStore: EventStore; baseHost: string };

export type AccountRow = Awaited<ReturnType<typeof accountRow>>;
export type AccountUsage = Awaited<ReturnType<typeof accountUsage>>;
export type AccountDetails = Awaited<ReturnType<typeof accountDetails>>;

const PAGE = 500;
const NEWEST_LINKS = 10;

/** All accounts, oldest first. */
export async function listAccounts({ readStore }: Deps): Promise<AccountDocument[]> {
  const sort = { field: "openedAt", direction: "asc" } as const;
  return await allDocuments(readStore, accounts.collection.name, { sort, limit: PAGE });
}

/** Newest first. @throws invalid_cursor */
export async function accountsPage(
  deps: SecretDeps,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<{ accounts: AccountRow[]; next: string | null }> {
  const sort = { field: "openedAt", direction: "desc" } as const;
  const { name } = accounts.collection;
  const request = { after: cursor, limit };
  const { page, next } = await readPage<AccountDocument>(deps.readStore, name, { sort }, request);
  return { accounts: await Promise.all(page.map((account) => accountRow(deps, account))), next };
}

/** @throws not_found */
export async function showAccount(deps: Deps, accountId: string) {
  const account = await deps.readStore.get<AccountDocument>(accounts.collection.name, accountId);
  if (!account) throw new Refused("not_found", `Account ${accountId} not found.`);
  return { account, keys: await listKeys(deps, accountId), domains: await listDomains(deps, accountId) };
}

/** For the operator: all that an account has. Of receivers the host alone, as a URL may hold a secret. @throws not_found */
export async function accountDetails(
  deps: SecretDeps & StatusDeps & { eventStore: EventStore },
  accountId: string,
) {
  const { account, ...has } = await showAccount(deps, accountId);
  const [row, upgradeAskedAt, newest, hooks, current, uses] = await Promise.all([
    accountRow(deps, account),
    upgradeRequestedAt(deps, accountId),
    accountLinks(deps, accountId, { limit: NEWEST_LINKS }),
    listWebhooks(deps, accountId),
    loadAccount(deps.eventStore, accountId),
    Promise.all(has.keys.map(({ _id }) => lastUseOf(deps, _id))),
  ]);
  return {
    ...row,
    upgrade_asked_at: upgradeAskedAt ?? null,
    newest_links: newest.links.map(({ _id, shortUrl, longUrl, status, createdAt }) => ({
      link: _id,
      short_url: shortUrl,
      long_url: longUrl,
      status,
      created_at: createdAt,
    })),
    keys: has.keys.map((key, index) => ({ ...keyRow(key, deps.clock()), last_used_at: uses[index] ?? null })),
    domains: has.domains.map(domainRow),
    webhooks: hooks.map((hook) => {
      const { url, account_id: _, ...rest } = webhookRow(hook);
      return { ...rest, host: new URL(url).host };
    }),
    ...sharedRows(current),
  };
}

function sharedRows(account: AccountState) {
  const { sharedPages, weeklyMails } = account.status === "open" ? account : {};
  return {
    shared_pages: [...(sharedPages?.values() ?? [])].map((page) => ({
      page_id: page.pageId,
      name: page.name,
      has_password: page.passwordId !== undefined,
      made_at: page.at,
      ends_at: page.endsAt ?? null,
    })),
    weekly_mails: [...(weeklyMails?.values() ?? [])].map(({ mailId, name, at }) => ({
      mail_id: mailId,
      name,
      begun_at: at,
    })),
  };
}

/** `links`: without deleted ones. `email`: of an owner; null once the account is closed. */
export async function accountRow(deps: SecretDeps, { _id, tier, status, openedAt }: AccountDocument) {
  const [email, counted] = await Promise.all([ownerEmail(deps, _id), countLinks(deps, _id)]);
  return {
    account_id: _id,
    email,
    tier,
    status,
    opened_at: openedAt,
    links: counted.links,
  };
}

/**
 * The id of the account with this e-mail address or id, or of the one that has this key (by its id), hostname or link
 * (short URL, `host/slug` or slug). Finds closed accounts, but not by the address that closing erased.
 * @throws account_not_found
 */
export async function findAccount(deps: FindAccountDeps, named: string): Promise<string> {
  const text = named.trim();
  const accountId = text.includes("@")
    ? await byAddress(deps, text)
    : ((await byId(deps, text)) ?? (await byHostname(deps, text)) ?? (await byLink(deps, text)));
  if (accountId === undefined) throw new Refused("account_not_found");
  return accountId;
}

/** Of several the one that they opened, else the one that they have been a member of for the longest. */
async function byAddress(deps: FindAccountDeps, text: string): Promise<string | undefined> {
  const person = await personWithEmail(deps, text);
  return person && (await accountsOf(deps)(person.personId))[0];
}

async function byId(deps: FindAccountDeps, text: string): Promise<string | undefined> {
  const id = text.toLowerCase();
  if (!/^[\w-]{1,100}$/.test(id)) return undefined;
  if ((await loadAccount(deps.eventStore, id)).status !== "absent") return id;
  return (await findKey(deps, id))?.accountId;
}

/** The id of an account that proved that the hostname is its own, else of the first that added it. */
async function byHostname(deps: FindAccountDeps, text: string): Promise<string | undefined> {
  if (hostName(text) === "") return undefined;
  const added = (await domainsNamed(deps, text)).sort((a, b) => (a.addedAt < b.addedAt ? -1 : 1));
  return (added.find(({ state }) => state === "verified") ?? added[0])?.accountId;
}

async function byLink({ eventStore, baseHost }: FindAccountDeps, text: string): Promise<string | undefined> {
  try {
    const { host, slug } = namedLink(text, baseHost);
    return (await linkFromStream(eventStore, linkKey(host, slug)))?.accountId;
  } catch (error) {
    if (isRefused(error, "invalid_link")) return undefined;
    throw error;
  }
}

/** All keys of an account, deactivated ones too, oldest first. */
export async function listKeys({ readStore }: Deps, accountId: string): Promise<KeyDocument[]> {
  const sort = { field: "issuedAt", direction: "asc" } as const;
  return await allDocuments(readStore, keys.collection.name, { where: { accountId }, sort, limit: PAGE });
}

export async function findKey({ readStore }: Deps, keyId: string): Promise<KeyDocument | undefined> {
  return await readStore.get<KeyDocument>(keys.collection.name, keyId);
}

/** When the key was last used: ISO 8601, to the minute; undefined when that was over a year ago, or never. */
export async function lastUseOf(
  { secrets, clock }: Pick<SecretDeps, "secrets" | "clock">,
  keyId: string,
): Promise<string | undefined> {
  const at = await secrets.get(keyUseSecret(keyId), clock());
  return typeof at === "string" ? at : undefined;
}

/** Whether a key can be used at this time. */
export function keyStatus(
  { status, expiresAt }: KeyDocument,
  now: Date,
): "active" | "expired" | "deactivated" {
  if (status === "deactivated") return status;
  return expiresAt !== undefined && expiresAt <= now.toISOString() ? "expired" : "active";
}

/** The texts before the present one that are still accepted, oldest first, by their last four characters. */
export function acceptedEarlier({ earlier = [] }: KeyDocument, now: Date): { hint: string; until: string }[] {
  return earlier.filter(({ until }) => until > now.toISOString()).map(({ hint, until }) => ({ hint, until }));
}

/** As the command line and the console's JSON answer it. */
export function keyRow(key: KeyDocument, now: Date) {
  return {
    key_id: key._id,
    label: key.label,
    hint: key.hint,
    status: keyStatus(key, now),
    issued_at: key.issuedAt,
    scopes: key.scopes ?? [...USUAL_SCOPES],
    expires_at: key.expiresAt ?? null,
    networks: key.networks ?? null,
    earlier: acceptedEarlier(key, now),
  };
}

/** What it uses of its tier's limits. */
export async function accountUsage(
  { readStore, clock, limits = INTERFACE_LIMITS }: Deps & { clock: () => Date; limits?: Limits },
  { accountId, tier }: { accountId: string; tier: Tier },
) {
  const count = ({ collection: { name } }: { collection: { name: string } }, where: Record<string, string>) =>
    readStore.count(name, { where: { accountId, ...where } });
  const { activeKeys, requestsPerHour } = limits[tier];
  const counted = await countLinks({ readStore }, accountId);
  const running = await count(webhooks, { status: "active" });
  const paused = await count(webhooks, { status: "paused" });
  const active = (await listKeys({ readStore }, accountId)).filter(
    (key) => keyStatus(key, clock()) === "active",
  );
  return {
    links: counted.links,
    deletedLinks: counted.deleted,
    keys: { used: active.length, limit: activeKeys },
    domains: await count(domains, { state: "verified" }),
    webhooks: { used: running + paused, limit: hasDeveloperFeatures(tier) ? limits.webhooks : 0 },
    requestsPerHour,
  };
}
