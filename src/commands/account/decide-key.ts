// Decider of an account's API keys: issued, rotated, deactivated. Pure; their state is part of the account's (account.ts).
import type { AccountEvent } from "../../events/catalogue.ts";
import { INTERFACE_LIMITS, type Limits, STREAM_LIMITS } from "../../events/vocabulary.ts";
import type { Actor } from "../../stores/event-store/port.ts";
import { Refused } from "../refusals.ts";
import {
  type AccountState,
  earlierTexts,
  type KeyTerms,
  type OpenAccount,
  opened,
  withRoom,
} from "./account.ts";
import { isActive, isThemselves, requireRight } from "./authority.ts";

/** `personId`: of a person's own key. */
type NewKey = KeyTerms & {
  keyId: string;
  keyHash: string;
  hint: string;
  label: string;
  personId?: string | undefined;
  at: string;
};

/**
 * One of the account by who may manage it, one of a person by themselves; the limits hold for both together.
 * @throws key_limit_reached at as many active keys as the limits allow the tier (interface, part 5), key_exists,
 * not_permitted, history_full
 */
export function issue(
  account: AccountState,
  key: NewKey,
  actor: Actor,
  limits: Limits = INTERFACE_LIMITS,
): AccountEvent[] {
  const open = withRoom(account);
  const { accountId, tier, keys } = open;
  requireKeyRight(open, key, actor, key.at);
  if (keys.size >= STREAM_LIMITS.keysIssued)
    throw new Refused(
      "history_full",
      `This account has been issued ${STREAM_LIMITS.keysIssued} API keys, as many as one account can be: go on with the keys it has, or open another account`,
    );
  if (keys.has(key.keyId)) throw new Refused("key_exists");
  const limit = limits[tier].activeKeys;
  if (activeKeys({ keys }, key.at) >= limit)
    throw new Refused(
      "key_limit_reached",
      `The limit of ${limit} active API keys of the ${tier} tier is reached; deactivate one first`,
    );
  return [{ type: "KeyIssued", data: { accountId, ...key } }];
}

/** Texts of one key that are accepted at a time, besides the newest. */
const MOST_EARLIER_TEXTS = 10;

type NewSecret = { keyId: string; keyHash: string; hint: string; until: string; at: string };

/**
 * The text that is replaced, and those before it, are accepted until `until` at most, and at the latest until the key
 * expires: one key, within the limits of active keys. `ofHint`: of the text that is replaced, so that a form that is sent
 * again replaces it once.
 * @throws key_not_found, key_not_active, key_exists, key_limit_reached, not_permitted, history_full
 */
export function rotate(account: AccountState, c: NewSecret, actor: Actor, ofHint?: string): AccountEvent[] {
  const open = withRoom(account);
  const { accountId, keys } = open;
  const { keyId, keyHash, hint, until, at } = c;
  const key = keys.get(keyId);
  if (!key) throw new Refused("key_not_found");
  if (!isActive(key, at)) throw new Refused("key_not_active");
  requireKeyRight(open, key, actor, at);
  if (ofHint !== undefined && key.hint !== ofHint) throw new Refused("key_exists");
  const previousUntil = key.expiresAt !== undefined && key.expiresAt < until ? key.expiresAt : until;
  if (earlierTexts(key, { previousUntil, at }).length > MOST_EARLIER_TEXTS)
    throw new Refused(
      "key_limit_reached",
      `${MOST_EARLIER_TEXTS} earlier texts of this key are still accepted: let them end sooner`,
    );
  return [{ type: "KeyRotated", data: { accountId, keyId, keyHash, hint, previousUntil, at } }];
}

/**
 * By who manages the account, or whose key it is. Deactivating again changes nothing.
 * @throws account_not_found, key_not_found, not_permitted
 */
export function deactivate(
  account: AccountState,
  c: { keyId: string; at: string },
  actor: Actor,
): AccountEvent[] {
  const open = opened(account);
  const { accountId, keys } = open;
  const key = keys.get(c.keyId);
  if (!key) throw new Refused("key_not_found");
  if (key.status === "deactivated") return [];
  if (!isThemselves(actor, key.personId)) requireRight(open, actor, "manage", c.at);
  return [{ type: "KeyDeactivated", data: { accountId, keyId: c.keyId, at: c.at } }];
}

/** Neither deactivated nor expired at this time, ISO 8601 UTC. */
export function activeKeys({ keys }: Pick<OpenAccount, "keys">, at: string): number {
  return [...keys.values()].filter((key) => isActive(key, at)).length;
}

/**
 * The right to get a text of the key: of a person's nobody else's, as it may do what they may; the operator's of any.
 * @throws not_permitted
 */
function requireKeyRight(
  account: OpenAccount,
  { personId }: { personId?: string | undefined },
  actor: Actor,
  at: string,
): void {
  requireRight(account, actor, personId === undefined ? "manage" : "edit", at);
  const isOthers = personId !== undefined && !isThemselves(actor, personId);
  if (isOthers && actor.type !== "operator") throw new Refused("not_permitted");
}
