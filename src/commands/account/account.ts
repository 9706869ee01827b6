// Decider of an account and its API keys; its fold includes domains and webhooks, as they share the stream. Pure.
import type { AccountEvent } from "../../events/catalogue.ts";
import { STREAM_LIMITS, TIER_LIMITS, type Tier } from "../../events/vocabulary.ts";
import { Refused } from "../../runtime/refused.ts";
import { type DomainStates, evolveDomains } from "../domains/domain-state.ts";
import { evolveWebhooks, isOfWebhook, type WebhookStates } from "../webhooks/webhook-state.ts";

/** Deciders only read it; `evolve` mutates it. */
export type OpenAccount = {
  status: "open";
  accountId: string;
  tier: Tier;
  /** By key id; every key that was ever issued. */
  keys: Map<string, "active" | "deactivated">;
  activeKeys: number;
  domains: DomainStates;
  /** By hostname, the id of each domain that was ever verified, including those removed since. */
  domainIds: Map<string, string>;
  /** Ever added, including those removed since. */
  domainsAdded: number;
  webhooks: WebhookStates;
  liveWebhooks: number;
  /** Length of the stream, for `withRoom`. */
  events: number;
};

export type AccountState = { status: "absent" } | { status: "closed"; accountId: string } | OpenAccount;

export const noAccount: AccountState = { status: "absent" };

/** @throws account_exists also for a closed account: ids are not reused */
export function open(
  account: AccountState,
  c: { accountId: string; tier: Tier; at: string },
): AccountEvent[] {
  if (account.status !== "absent") throw new Refused("account_exists");
  return [{ type: "AccountOpened", data: { accountId: c.accountId, tier: c.tier, at: c.at } }];
}

/** Active keys beyond the new tier's limit keep working; only issuing is refused. @throws account_not_found */
export function changeTierTo(account: AccountState, c: { tier: Tier; at: string }): AccountEvent[] {
  const { accountId, tier } = opened(account);
  if (tier === c.tier) return [];
  return [{ type: "TierChanged", data: { accountId, from: tier, to: c.tier, at: c.at } }];
}

export type NewKey = { keyId: string; keyHash: string; hint: string; label: string; at: string };

/** @throws key_limit_reached at 2 (Free) or 5 (Developer) active keys (interface, part 5), history_full */
export function issue(account: AccountState, key: NewKey): AccountEvent[] {
  const { accountId, tier, keys, activeKeys } = withRoom(account);
  if (keys.size >= STREAM_LIMITS.keysIssued)
    throw new Refused(
      "history_full",
      `This account has been issued ${STREAM_LIMITS.keysIssued} API keys, as many as one account can be: go on with the keys it has, or open another account`,
    );
  const limit = TIER_LIMITS[tier].activeKeys;
  if (activeKeys >= limit)
    throw new Refused(
      "key_limit_reached",
      `The limit of ${limit} active API keys of the ${tier} tier is reached; deactivate one first`,
    );
  return [{ type: "KeyIssued", data: { accountId, ...key } }];
}

/** Deactivating again changes nothing. @throws account_not_found, key_not_found */
export function deactivate(account: AccountState, c: { keyId: string; at: string }): AccountEvent[] {
  const { accountId, keys } = opened(account);
  const status = keys.get(c.keyId);
  if (!status) throw new Refused("key_not_found");
  if (status === "deactivated") return [];
  return [{ type: "KeyDeactivated", data: { accountId, keyId: c.keyId, at: c.at } }];
}

/** Idempotent. @throws account_not_found */
export function close(account: AccountState, c: { at: string }): AccountEvent[] {
  if (account.status === "closed") return [];
  const { accountId } = opened(account);
  return [{ type: "AccountClosed", data: { accountId, at: c.at } }];
}

/** @throws account_not_found when it was never opened or is closed */
export function opened(account: AccountState): OpenAccount {
  if (account.status !== "open") throw new Refused("account_not_found");
  return account;
}

/**
 * The open account, for commands that can be repeated without limit (issuing, changing, resuming): they are refused at
 * STREAM_LIMITS.accountEvents, because every command folds the whole stream.
 * @throws account_not_found, history_full
 */
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
  if (event.type === "AccountOpened") return asOpened(event.data);
  if (account.status !== "open") return account;
  if (event.type === "AccountClosed") return { status: "closed", accountId: account.accountId };
  account.events += 1;
  if (isOfWebhook(event)) account.liveWebhooks += evolveWebhooks(account.webhooks, event);
  else if (event.type === "TierChanged") account.tier = event.data.to;
  else if (event.type === "KeyIssued") setKey(account, event.data.keyId, "active");
  else if (event.type === "KeyDeactivated") setKey(account, event.data.keyId, "deactivated");
  else evolveDomains(account.domains, event);
  if (event.type === "DomainAdded") account.domainsAdded += 1;
  if (event.type === "DomainVerified") account.domainIds.set(event.data.hostname, event.data.domainId);
  return account;
}

function asOpened({ accountId, tier }: { accountId: string; tier: Tier }): OpenAccount {
  const keys = { keys: new Map(), activeKeys: 0 };
  const domains = { domains: new Map(), domainIds: new Map(), domainsAdded: 0 };
  const webhooks = { webhooks: new Map(), liveWebhooks: 0 };
  return { status: "open", accountId, tier, ...keys, ...domains, ...webhooks, events: 1 };
}

function setKey(account: OpenAccount, keyId: string, status: "active" | "deactivated"): void {
  if (account.keys.get(keyId) === "active") account.activeKeys -= 1;
  if (status === "active") account.activeKeys += 1;
  account.keys.set(keyId, status);
}
