// Decides what may happen to one account and its API keys; folds its domains and webhooks too. Pure: time and ids come in.
import type { AccountEvent } from "../events/catalogue.ts";
import { TIER_LIMITS, type Tier } from "../events/vocabulary.ts";
import { AccountExists, AccountNotFound, KeyLimitReached, KeyNotFound } from "./account-errors.ts";
import { evolveDomains, type OwnDomains } from "./own-domains.ts";
import { evolveWebhooks, isOfWebhook, type OwnWebhooks } from "./own-webhooks.ts";

export type OpenAccount = {
  status: "open";
  accountId: string;
  tier: Tier;
  keys: ReadonlyMap<string, "active" | "deactivated">;
  domains: OwnDomains;
  webhooks: OwnWebhooks;
};

export type AccountState = { status: "absent" } | { status: "closed"; accountId: string } | OpenAccount;

export const noAccount: AccountState = { status: "absent" };

/** @throws AccountExists also for one that was closed: an id is used once */
export function open(
  account: AccountState,
  c: { accountId: string; tier: Tier; at: string },
): AccountEvent[] {
  if (account.status !== "absent") throw new AccountExists();
  return [{ type: "AccountOpened", data: { accountId: c.accountId, tier: c.tier, at: c.at } }];
}

/** Active keys beyond the new tier's limit go on working; only new ones are refused. */
export function changeTierTo(account: AccountState, c: { tier: Tier; at: string }): AccountEvent[] {
  const { accountId, tier } = opened(account);
  if (tier === c.tier) return [];
  return [{ type: "TierChanged", data: { accountId, from: tier, to: c.tier, at: c.at } }];
}

export type NewKey = { keyId: string; keyHash: string; hint: string; label: string; at: string };

/** @throws KeyLimitReached at 2 (Free) or 5 (Developer) active keys (interface, part 5) */
export function issue(account: AccountState, key: NewKey): AccountEvent[] {
  const { accountId, tier, keys } = opened(account);
  const limit = TIER_LIMITS[tier].activeKeys;
  if (activeKeys(keys) >= limit) throw new KeyLimitReached(limit, tier);
  return [{ type: "KeyIssued", data: { accountId, ...key } }];
}

export function deactivate(account: AccountState, c: { keyId: string; at: string }): AccountEvent[] {
  const { accountId, keys } = opened(account);
  const status = keys.get(c.keyId);
  if (!status) throw new KeyNotFound();
  if (status === "deactivated") return [];
  return [{ type: "KeyDeactivated", data: { accountId, keyId: c.keyId, at: c.at } }];
}

/** Closing what is closed changes nothing, so that it can be repeated. @throws AccountNotFound */
export function close(account: AccountState, c: { at: string }): AccountEvent[] {
  if (account.status === "closed") return [];
  const { accountId } = opened(account);
  return [{ type: "AccountClosed", data: { accountId, at: c.at } }];
}

/** @throws AccountNotFound when it was never opened, or is closed */
export function opened(account: AccountState): OpenAccount {
  if (account.status !== "open") throw new AccountNotFound();
  return account;
}

export function evolve(account: AccountState, event: AccountEvent): AccountState {
  if (event.type === "AccountOpened") {
    const { accountId, tier } = event.data;
    return { status: "open", accountId, tier, keys: new Map(), domains: new Map(), webhooks: new Map() };
  }
  if (account.status !== "open") return account;
  if (isOfWebhook(event)) return { ...account, webhooks: evolveWebhooks(account.webhooks, event) };
  switch (event.type) {
    case "TierChanged":
      return { ...account, tier: event.data.to };
    case "AccountClosed":
      return { status: "closed", accountId: account.accountId };
    case "KeyIssued":
      return { ...account, keys: new Map(account.keys).set(event.data.keyId, "active") };
    case "KeyDeactivated":
      return { ...account, keys: new Map(account.keys).set(event.data.keyId, "deactivated") };
    default:
      return { ...account, domains: evolveDomains(account.domains, event) };
  }
}

function activeKeys(keys: OpenAccount["keys"]): number {
  let active = 0;
  for (const status of keys.values()) if (status === "active") active += 1;
  return active;
}
