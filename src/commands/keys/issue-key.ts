// Issues an API key `<prefix>_<32 random characters>` (interface, part 5); only its SHA-256 is stored.
import { hash } from "node:crypto";
import type { Position } from "../../event-store/port.ts";
import { acceptLabel } from "../accept-label.ts";
import { issue } from "../account/account.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";

/** `randomKey`: 32 characters of [A-Za-z0-9] from a CSPRNG. */
export type IssueKeyDeps = CommandDeps & { keyPrefix: string; randomKey: () => string };

export type IssuedKey = { keyId: string; key: string; label: string; position: Position | undefined };

/** `key` of the answer is not stored and can't be shown again. @throws account_not_found, key_limit_reached, history_full */
export async function issueKey(
  deps: IssueKeyDeps,
  context: CommandContext,
  accountId: string,
  request: { label?: string | undefined } = {},
): Promise<IssuedKey> {
  const key = `${deps.keyPrefix}_${deps.randomKey()}`;
  const keyId = deps.newId();
  const label = acceptLabel(request.label ?? "");
  const keyHash = hashKey(key);
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (account) =>
    issue(account, { keyId, keyHash, hint: key.slice(-4), label, at }),
  );
  return { keyId, key, label, position };
}

/** SHA-256 of the whole key, in hex. No salt or key stretching: 32 random characters can't be found by brute force. */
export function hashKey(key: string): string {
  return hash("sha256", key);
}
