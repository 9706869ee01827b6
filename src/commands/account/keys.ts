// API keys `<prefix>_<32 random characters>` (interface, parts 3 and 5); only their SHA-256 is stored.
import { hash } from "node:crypto";
import type { Limits } from "../../events/vocabulary.ts";
import { acceptLabel } from "../accept-text.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { deactivate, issue } from "./account.ts";
import { accountCommand, changeAccount } from "./accounts.ts";

/** `limits`: the interface's by default. `randomKey`: 32 characters of [A-Za-z0-9] from a CSPRNG. */
type IssueKeyDeps = CommandDeps & { limits?: Limits; keyPrefix: string; randomKey: () => string };

/**
 * `key` of the answer is not stored and can't be shown again. `keyId`: chosen by a form, so that sending it again issues no
 * second key.
 * @throws account_not_found, key_limit_reached, key_exists, history_full
 */
export async function issueKey(
  deps: IssueKeyDeps,
  context: CommandContext,
  accountId: string,
  request: { label?: string | undefined; keyId?: string | undefined } = {},
): Promise<Appended & { keyId: string; key: string; label: string }> {
  const key = `${deps.keyPrefix}_${deps.randomKey()}`;
  const keyId = request.keyId ?? deps.newId();
  const label = acceptLabel(request.label ?? "");
  const { position } = await changeAccount(deps, context, accountId, (account, at) =>
    issue(account, { keyId, keyHash: hashKey(key), hint: key.slice(-4), label, at }, deps.limits),
  );
  return { keyId, key, label, position };
}

/** For good. @throws account_not_found, key_not_found */
export const deactivateKey = accountCommand((account, at, keyId: string) =>
  deactivate(account, { keyId, at }),
);

/** SHA-256 of the whole key, in hex. No salt or key stretching: 32 random characters can't be found by brute force. */
export function hashKey(key: string): string {
  return hash("sha256", key);
}
