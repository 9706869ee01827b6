// Closes an account for good: keys and sessions at once, then domains, webhooks and links; its owner's address is erased.
import type { Position } from "../event-store/port.ts";
import type { Secrets } from "../secrets/port.ts";
import { close, opened } from "./account.ts";
import {
  CLOSINGS,
  closingSecret,
  deviceSecret,
  sessionSecret,
  upgradeRequestSecret,
} from "./account-secrets.ts";
import { loadAccount, onAccount } from "./account-stream.ts";
import type { AnnouncedLink } from "./append-link.ts";
import type { CommandContext } from "./caller.ts";
import { applyLinkChange, type LinkAddress } from "./change-link.ts";
import type { CommandDeps } from "./handle-command.ts";
import { accountByEmailSecret, emailSecret } from "./open-account.ts";
import { passwordSecret } from "./password.ts";
import { removeDomain } from "./remove-domain.ts";
import { removeWebhook } from "./remove-webhook.ts";

export type CloseDeps = CommandDeps & {
  secrets: Secrets;
  /** Told of each deleted link, so that caches know. */
  announce: (link: AnnouncedLink) => void;
  /** Some of the account's links that are not deleted; none when all are. Asked again after each answer is deleted. */
  linksLeft: (accountId: string) => Promise<LinkAddress[]>;
  /** Settles when documents show this event, or after a second. */
  whenReadable: (position: Position | undefined) => Promise<void>;
};

const AT_A_TIME = 8;

/** After this nobody can use the account; finishClosing deletes its links. @throws AccountNotFound */
export async function closeAccount(
  deps: CloseDeps,
  context: CommandContext,
  accountId: string,
): Promise<{ position: Position | undefined }> {
  const account = opened(await loadAccount(deps.eventStore, accountId));
  for (const webhookId of account.webhooks.keys()) await removeWebhook(deps, context, accountId, webhookId);
  for (const hostname of account.domains.keys()) await removeDomain(deps, context, accountId, hostname);
  await deps.secrets.put(closingSecret(accountId), { value: { at: deps.clock().toISOString() } });
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (state) => close(state, { at }));
  await erase(deps, accountId);
  return { position };
}

/** May take minutes for many links; what a crash cut off goes on when it is called again. */
export async function finishClosing(
  deps: CloseDeps,
  context: CommandContext,
  accountId: string,
): Promise<{ deletedLinks: number }> {
  const { status } = await loadAccount(deps.eventStore, accountId);
  let deletedLinks = 0;
  if (status === "closed") {
    await erase(deps, accountId);
    for (;;) {
      const left = await deps.linksLeft(accountId);
      if (left.length === 0) break;
      await deleteAll(deps, context, accountId, left);
      deletedLinks += left.length;
    }
  }
  await deps.secrets.delete(closingSecret(accountId));
  return { deletedLinks };
}

/** Accounts whose closing was cut off. */
export async function closingsLeft({
  secrets,
  clock,
}: Pick<CloseDeps, "secrets" | "clock">): Promise<string[]> {
  return (await secrets.list(CLOSINGS, clock())).map(({ key }) => key.slice(CLOSINGS.length));
}

async function deleteAll(
  deps: CloseDeps,
  context: CommandContext,
  accountId: string,
  links: readonly LinkAddress[],
): Promise<void> {
  let last: Position | undefined;
  for (let start = 0; start < links.length; start += AT_A_TIME) {
    const deleted = await Promise.all(
      links
        .slice(start, start + AT_A_TIME)
        .map((address) => applyLinkChange(deps, context, accountId, address, { type: "delete" })),
    );
    for (const { position } of deleted)
      if (position !== undefined && (last === undefined || position > last)) last = position;
  }
  await deps.whenReadable(last);
}

/** The address is free for a new account afterwards. */
async function erase({ secrets, clock }: CloseDeps, accountId: string): Promise<void> {
  const email = await secrets.get(emailSecret(accountId), clock());
  if (typeof email === "string") {
    const bound = await secrets.get(accountByEmailSecret(email), clock());
    if (bound === accountId) await secrets.delete(accountByEmailSecret(email));
  }
  const names = [emailSecret, passwordSecret, upgradeRequestSecret].map((name) => name(accountId));
  for (const prefix of [sessionSecret(accountId, ""), deviceSecret(accountId, "")])
    names.push(...(await secrets.list(prefix, clock())).map(({ key }) => key));
  for (const name of names) await secrets.delete(name);
}
