// Closes an account for good: one append ends its keys, domains and webhooks, then its data outside the event log is
// erased.
import type { Position } from "../../event-store/port.ts";
import { streamPages } from "../../event-store/stream-pages.ts";
import type { AccountEvent } from "../../events/catalogue.ts";
import { readableEvent } from "../../events/read-event.ts";
import { accountStream } from "../../events/streams.ts";
import type { Secrets } from "../../secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import {
  deviceSecret,
  keyUseSecret,
  sessionSecret,
  upgradeRequestSecret,
} from "../credentials/account-secrets.ts";
import { passwordSecret } from "../credentials/password.ts";
import { releaseHostname } from "../domains/claim-hostname.ts";
import { remove as removeDomain } from "../domains/domain.ts";
import type { CommandDeps } from "../handle-command.ts";
import { remove as removeWebhook } from "../webhooks/webhook.ts";
import { forgetWebhookKeys } from "../webhooks/webhook-key.ts";
import { type AccountState, close, deactivate, opened } from "./account.ts";
import { loadOpenAccount, onAccount } from "./account-stream.ts";
import { accountByEmailSecret, emailSecret } from "./open-account.ts";

export type CloseDeps = CommandDeps & { secrets: Secrets };

/**
 * From the append on the account can't be used and none of its links redirects; jobs/account-closing.ts deletes the
 * links and repeats the erasure if a crash interrupted it.
 * @throws account_not_found
 */
export async function closeAccount(
  deps: CloseDeps,
  context: CommandContext,
  accountId: string,
): Promise<{ position: Position | undefined }> {
  await loadOpenAccount(deps.eventStore, accountId);
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (account) => endAll(account, at));
  await eraseClosed(deps, context, accountId);
  return { position };
}

/** Decided at one revision, so that a key, domain or webhook added concurrently is either ended too or refused. */
function endAll(account: AccountState, at: string): AccountEvent[] {
  if (account.status === "closed") return [];
  const { keys, webhooks, domains } = opened(account);
  return [
    ...[...keys.keys()].flatMap((keyId) => deactivate(account, { keyId, at })),
    ...[...webhooks.keys()].flatMap((webhookId) => removeWebhook(account, { webhookId, at })),
    ...[...domains.keys()].flatMap((hostname) => removeDomain(account, { hostname, at })),
    ...close(account, { at }),
  ];
}

/**
 * Erases a closed account's data outside its stream: address, password, sessions, known browsers, upgrade request,
 * webhook keys, last uses of API keys, and hostname claims. What there is to erase is read from the account's events,
 * so that it can be repeated after a crash. The address can be used for a new account afterwards.
 */
export async function eraseClosed(
  deps: CloseDeps,
  context: CommandContext,
  accountId: string,
): Promise<void> {
  const { secrets, clock, eventStore } = deps;
  const email = await secrets.get(emailSecret(accountId), clock());
  if (typeof email === "string") {
    const bound = await secrets.get(accountByEmailSecret(email), clock());
    if (bound === accountId) await secrets.delete(accountByEmailSecret(email));
  }
  const names = [emailSecret, passwordSecret, upgradeRequestSecret].map((of) => of(accountId));
  for (const prefix of [sessionSecret(accountId, ""), deviceSecret(accountId, "")])
    names.push(...(await secrets.list(prefix, clock())).map(({ key }) => key));
  for (const name of names) await secrets.delete(name);
  const hostnames = new Set<string>();
  for await (const page of streamPages(eventStore, accountStream(accountId))) {
    for (const recorded of page) {
      const event = readableEvent(recorded);
      if (event?.type === "KeyIssued") await secrets.delete(keyUseSecret(event.data.keyId));
      if (event?.type === "WebhookAdded") await forgetWebhookKeys(secrets, event.data.webhookId);
      if (event?.type === "DomainAdded") hostnames.add(event.data.hostname);
    }
  }
  const at = clock().toISOString();
  for (const hostname of hostnames) await releaseHostname(deps, context, { hostname, accountId, at });
}
