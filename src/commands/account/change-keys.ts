// API keys `<prefix>_<32 random characters>` (interface, parts 3 and 5); only their SHA-256 is stored.
import { hash } from "node:crypto";
import type { Limits } from "../../events/vocabulary.ts";
import { acceptLabel } from "../accept-text.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import { acceptKeyTerms, type KeyTermsRequest } from "./accept-key-terms.ts";
import { opened } from "./account.ts";
import { accountCommand, changeAccount, onAccount } from "./account-stream.ts";
import { deactivate, issue, rotate } from "./decide-key.ts";

/** `limits`: the interface's by default. `randomKey`: 32 characters of [A-Za-z0-9] from a CSPRNG. */
type IssueKeyDeps = CommandDeps & { limits?: Limits; keyPrefix: string; randomKey: () => string };

/** `keyId`: chosen by a form, so that sending it again issues no second key. `personId`: of a person's own key. */
type KeyRequest = KeyTermsRequest & {
  label?: string | undefined;
  keyId?: string | undefined;
  personId?: string | undefined;
};

/**
 * `key` of the answer is not stored and can't be shown again.
 * @throws account_not_found, invalid_key, key_limit_reached, key_exists, not_permitted, history_full
 */
export async function issueKey(
  deps: IssueKeyDeps,
  context: CommandContext,
  accountId: string,
  request: KeyRequest = {},
): Promise<Appended & { keyId: string; key: string; label: string }> {
  const keyId = request.keyId ?? deps.newId();
  const label = acceptLabel(request.label ?? "");
  const terms = acceptKeyTerms(request, deps.clock());
  const { key, keyHash, hint } = newSecret(deps);
  const { personId } = request;
  const owned = { ...terms, ...(personId !== undefined && { personId }) };
  const { position } = await changeAccount(deps, context, accountId, (account, at, actor) =>
    issue(account, { keyId, keyHash, hint, label, at, ...owned }, actor, deps.limits),
  );
  return { keyId, key, label, position };
}

export const DEFAULT_OVERLAP_HOURS = 24;
export const MOST_OVERLAP_HOURS = 30 * 24;
const HOUR_MS = 3_600_000;

/**
 * A new text for the same key. Those before are accepted for `overlapHours` more at most (0: none any longer), and no longer
 * than an earlier rotation promised or than the key lasts: `earlier` of the answer says until when each.
 * `ofHint`: the last four characters of the text that a form showed, so that sending it again replaces no second one.
 * @throws account_not_found, key_not_found, key_not_active, key_exists, invalid_key, key_limit_reached, not_permitted,
 * history_full
 */
export async function rotateKey(
  deps: IssueKeyDeps,
  context: CommandContext,
  accountId: string,
  keyId: string,
  {
    overlapHours = DEFAULT_OVERLAP_HOURS,
    ofHint,
  }: { overlapHours?: number | undefined; ofHint?: string | undefined } = {},
): Promise<Appended & { keyId: string; key: string; earlier: { hint: string; until: string }[] }> {
  if (overlapHours > MOST_OVERLAP_HOURS)
    throw new Refused("invalid_key", `A rotation overlaps by at most ${MOST_OVERLAP_HOURS} hours`);
  const { key, keyHash, hint } = newSecret(deps);
  const until = new Date(deps.clock().getTime() + overlapHours * HOUR_MS).toISOString();
  const { state, position } = await onAccount(deps, context, accountId, (account, at, actor) =>
    rotate(account, { keyId, keyHash, hint, until, at }, actor, ofHint),
  );
  const rotated = opened(state).keys.get(keyId);
  const { earlier = [] } = rotated?.status === "active" ? rotated : {};
  return { keyId, key, earlier: earlier.map((text) => ({ hint: text.hint, until: text.until })), position };
}

/** For good. @throws account_not_found, key_not_found, not_permitted */
export const deactivateKey = accountCommand((account, { at, actor }, keyId: string) =>
  deactivate(account, { keyId, at }, actor),
);

function newSecret({ keyPrefix, randomKey }: IssueKeyDeps) {
  const key = `${keyPrefix}_${randomKey()}`;
  return { key, keyHash: hashKey(key), hint: key.slice(-4) };
}

/** SHA-256 of the whole key, in hex. No salt or key stretching: 32 random characters can't be found by brute force. */
export function hashKey(key: string): string {
  return hash("sha256", key);
}

/** The secret that says when a key was last used; ISO 8601 UTC. */
export const keyUseSecret = (keyId: string) => `key-used/${keyId}`;
