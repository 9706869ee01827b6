// Closes an account for good: one append ends its keys, domains and webhooks, then its data outside the event log is
// erased.

import type { AccountEvent } from "../../events/catalogue.ts";
import { readableEvent } from "../../events/read-event.ts";
import { accountStream } from "../../events/streams.ts";
import { orUndefined } from "../../stores/connections/errors.ts";
import type { Position } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import { releaseHostname } from "../domains/change-domains.ts";
import { remove as removeDomain } from "../domains/decide-domain.ts";
import { type Appended, type CommandDeps, lastPosition } from "../handle-command.ts";
import { onEachLink } from "../links/bulk/each-link.ts";
import { applyLinkChange } from "../links/change-link.ts";
import { forgetPassword } from "../links/link-password.ts";
import type { LinkAddress } from "../links/link-stream.ts";
import { removePerson } from "../people/change-person.ts";
import { type AccountsOf, isRemoved } from "../people/person-stream.ts";
import { forgetSharedPage } from "../sharing/shared-pages.ts";
import { remove as removeWebhook } from "../webhooks/decide-webhook.ts";
import { forgetWebhookKeys } from "../webhooks/webhook-key.ts";
import { type AccountState, close, opened } from "./account.ts";
import { changeAccount, loadAccount } from "./account-stream.ts";
import { keyUseSecret } from "./change-keys.ts";
import { forgetInvitation } from "./invitations.ts";
import { withdrawUpgrade } from "./tier.ts";

/** There from before the append until those members were removed who were in no other account: who leaves one later stays. */
const closingSecret = (accountId: string) => `closing/${accountId}`;

export type CloseDeps = CommandDeps & { secrets: Secrets; accountsOf: AccountsOf };

/** `linksLeft`: some that are not deleted; none when no link is left. `passwordsOf`: ids of those of all its links, deleted ones too. */
export type ClosedLinks = {
  linksLeft: (accountId: string) => Promise<LinkAddress[]>;
  passwordsOf: (accountId: string) => AsyncIterable<string>;
};

/**
 * From the append on the account can't be used and none of its links redirects; finishClosing deletes the links, and is
 * repeated by a job (jobs/account-closing.ts) until none is left.
 * @throws account_not_found
 */
export async function closeAccount(
  deps: CloseDeps,
  context: CommandContext,
  accountId: string,
): Promise<Appended> {
  opened(await loadAccount(deps.eventStore, accountId));
  await deps.secrets.put(closingSecret(accountId), { value: true });
  const closed = await changeAccount(deps, context, accountId, endAll);
  // What can't be erased now, as while nobody knows where else its members are, is left to the job.
  await orUndefined(eraseClosed(deps, context, accountId));
  return closed;
}

/** Decided at one revision, so that a key, domain or webhook added concurrently is either ended too or refused. */
function endAll(account: AccountState, at: string): AccountEvent[] {
  if (account.status === "closed") return [];
  const { accountId, keys, webhooks, domains } = opened(account);
  return [
    ...[...keys].flatMap(([keyId, { status }]) =>
      status === "active" ? [{ type: "KeyDeactivated", data: { accountId, keyId, at } } as const] : [],
    ),
    ...[...webhooks.keys()].flatMap((webhookId) => removeWebhook(account, { webhookId, at })),
    ...[...domains.keys()].flatMap((hostname) => removeDomain(account, { hostname, at })),
    ...close(account, { at }),
  ];
}

/**
 * Erases a closed account's data outside its stream. What there is to erase is read from the account's events, so that it can
 * be repeated after a crash. Of its members those who are in no other account are removed, too: their addresses can be used for
 * new ones afterwards. @throws StoreUnavailable, also while nobody knows who they are
 */
export async function eraseClosed(
  deps: CloseDeps,
  context: CommandContext,
  accountId: string,
): Promise<void> {
  const { secrets, eventStore } = deps;
  await withdrawUpgrade(deps, accountId);
  const members = new Set<string>();
  const hostnames = new Set<string>();
  for await (const page of streamPages(eventStore, accountStream(accountId))) {
    for (const recorded of page) {
      const event = readableEvent(recorded);
      if (event?.type === "AccountOpened") members.add(event.data.ownerId ?? accountId);
      if (event?.type === "MemberJoined") members.add(event.data.personId);
      if (event?.type === "MemberRemoved") members.delete(event.data.personId);
      if (event?.type === "MemberInvited") await forgetInvitation(deps, event.data.invitationId);
      if (event?.type === "KeyIssued") await secrets.delete(keyUseSecret(event.data.keyId));
      if (event?.type === "WebhookAdded") await forgetWebhookKeys(secrets, event.data.webhookId);
      if (event?.type === "SharedPageMade") await forgetSharedPage(deps, event.data);
      if (event?.type === "DomainAdded") hostnames.add(event.data.hostname);
    }
  }
  for (const hostname of hostnames) await releaseHostname(deps, context, { hostname, accountId });
  const isClosing = (await secrets.get(closingSecret(accountId), deps.clock())) !== undefined;
  for (const personId of members) {
    // Who was removed is erased again, as an older copy of the secrets may have been put back.
    const goes = isClosing
      ? await isInNoOther(deps, personId, accountId)
      : await isRemoved(eventStore, personId);
    if (goes) await removePerson(deps, context, personId);
  }
  if (isClosing) await secrets.delete(closingSecret(accountId));
}

async function isInNoOther({ accountsOf }: CloseDeps, personId: string, accountId: string): Promise<boolean> {
  return (await accountsOf(personId, "all")).every((other) => other === accountId);
}

/**
 * Erases the secrets of a closed account and deletes the links that are shown at present. `isShown`: resolves to true when the
 * documents have folded this position, to false when that takes too long.
 */
export async function finishClosing(
  deps: CloseDeps & ClosedLinks & { isShown: (position: Position) => Promise<boolean> },
  context: CommandContext,
  accountId: string,
  signal?: AbortSignal,
): Promise<{ deletedLinks: number }> {
  await eraseClosed(deps, context, accountId);
  let deletedLinks = 0;
  while (!signal?.aborted) {
    const left = await deps.linksLeft(accountId);
    if (left.length === 0) break;
    const { results } = await onEachLink(
      left,
      (address) => applyLinkChange(deps, context, accountId, address, { type: "delete" }),
      { failsAlone: () => false },
    );
    const last = lastPosition(results.map(({ result }) => result.position));
    deletedLinks += left.length;
    if (last && !(await deps.isShown(last))) break;
  }
  for await (const passwordId of deps.passwordsOf(accountId)) await forgetPassword(deps, passwordId);
  return { deletedLinks };
}
