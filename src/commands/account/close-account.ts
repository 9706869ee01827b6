// Closes an account for good: one append ends its keys, domains and webhooks, then its data outside the event log is
// erased.

import type { AccountEvent } from "../../events/catalogue.ts";
import { readableEvent } from "../../events/read-event.ts";
import { accountStream } from "../../events/streams.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import { remove as removeDomain } from "../domains/domain.ts";
import { releaseHostname } from "../domains/domains.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { forgetSharedPage } from "../sharing/shared-pages.ts";
import { remove as removeWebhook } from "../webhooks/webhook.ts";
import { forgetWebhookKeys } from "../webhooks/webhook-key.ts";
import { type AccountState, close, opened } from "./account.ts";
import { changeAccount, loadOpenAccount } from "./accounts.ts";
import { releaseEmail } from "./email.ts";
import { deactivate } from "./key.ts";
import {
  deviceSecret,
  emailSecret,
  keyUseSecret,
  passwordSecret,
  sessionSecret,
  upgradeRequestSecret,
} from "./secrets.ts";

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
): Promise<Appended> {
  await loadOpenAccount(deps.eventStore, accountId);
  const closed = await changeAccount(deps, context, accountId, endAll);
  await eraseClosed(deps, context, accountId);
  return closed;
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
 * Erases a closed account's data outside its stream. What there is to erase is read from the account's events, so that it can
 * be repeated after a crash. The address can be used for a new account afterwards.
 */
export async function eraseClosed(
  deps: CloseDeps,
  context: CommandContext,
  accountId: string,
): Promise<void> {
  const { secrets, clock, eventStore } = deps;
  const email = await secrets.get(emailSecret(accountId), clock());
  if (typeof email === "string") await releaseEmail(deps, accountId, email);
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
      if (event?.type === "SharedPageMade") await forgetSharedPage(deps, event.data);
      if (event?.type === "DomainAdded") hostnames.add(event.data.hostname);
    }
  }
  for (const hostname of hostnames) await releaseHostname(deps, context, { hostname, accountId });
}
