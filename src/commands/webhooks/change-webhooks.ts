// What is done with an account's webhooks (interface, part 6): add, change, pause, resume, remove.
import { cleanText } from "../../events/classification/clean-text.ts";
import {
  CLICK_KINDS,
  CREATED_VIA,
  type Limits,
  WEBHOOK_DEFAULT_KINDS,
  type WebhookPauseCause,
  type WebhookPauser,
} from "../../events/vocabulary.ts";
import { selectionOf, WEBHOOK_EVENTS, type WebhookSelection } from "../../events/webhook-selection.ts";
import { hostName } from "../../runtime/addresses/host-name.ts";
import type { Actor } from "../../stores/event-store/port.ts";
import { acceptLabel } from "../accept-text.ts";
import type { WebhookSettings } from "../account/account.ts";
import { accountCommand, changeAccount, onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { isThisService } from "../links/accept-url.ts";
import { isClientError, isRefused, Refused } from "../refusals.ts";
import { add, change, liveWebhook, pause, remove, resume } from "./decide-webhook.ts";
import { forgetWebhookKeys, keepWebhookKeys, newWebhookKey, type WebhookKeyDeps } from "./webhook-key.ts";

/** `receiverUrl`: parses the URL; throws a refusal when deliveries to it are not allowed. */
type AcceptWebhookDeps = { baseUrl: string; baseHost: string; receiverUrl: (text: string) => URL };

/** An empty list of domains or tags: all links. */
type ChangeWebhookRequest = {
  [M in "events" | "kinds" | "via" | "domains" | "tags"]?: readonly string[] | undefined;
} & { url?: string | undefined; label?: string | undefined };

type ChangedWebhook = WebhookSettings & Appended & { webhookId: string };

export type AddedWebhook = ChangedWebhook & { key: string; publicKey: string };

const MAX_REASON_LENGTH = 200;
/** Characters of a hostname, or of a tag. */
const MAX_CHOSEN_LENGTH = 253;
const MOST_CHOSEN = 20;

/**
 * With a new key, which is shown only in this answer. It is stored before the event: a webhook without a key can't be
 * delivered to, a key without a webhook is harmless.
 * @throws invalid_webhook, account_not_found, tier_required, webhook_limit_reached, history_full
 */
export async function addWebhook(
  deps: CommandDeps & AcceptWebhookDeps & WebhookKeyDeps & { limits?: Limits },
  context: CommandContext,
  accountId: string,
  request: ChangeWebhookRequest & { url: string },
): Promise<AddedWebhook> {
  const url = acceptReceiver(deps, request.url);
  const selection = selectionOf({ kinds: WEBHOOK_DEFAULT_KINDS, ...acceptSelection(request) });
  const label = acceptLabel(request.label ?? "");
  const { secrets, keyHint, publicKey } = newWebhookKey(deps);
  const webhookId = deps.newId();
  await keepWebhookKeys(deps.secrets, webhookId, secrets);
  try {
    const { position } = await changeAccount(deps, context, accountId, (account, at) =>
      add(
        account,
        { webhookId, url, label, ...selection, keyHint, publicKey, at, baseHost: deps.baseHost },
        deps.limits?.webhooks,
      ),
    );
    return { webhookId, key: secrets.key, publicKey, url, label, ...selection, position };
  } catch (error) {
    // After any other error the append's outcome is unknown: the event may be in the log.
    if (isClientError(error)) await forgetWebhookKeys(deps.secrets, webhookId);
    throw error;
  }
}

/**
 * Omitted settings stay, and so does the key. Pending deliveries go to the new URL.
 * @throws invalid_webhook, account_not_found, tier_required, webhook_not_found, history_full
 */
export async function changeWebhook(
  deps: CommandDeps & AcceptWebhookDeps,
  context: CommandContext,
  accountId: string,
  webhookId: string,
  request: ChangeWebhookRequest,
): Promise<ChangedWebhook> {
  const changed = {
    ...(request.url === undefined ? {} : { url: acceptReceiver(deps, request.url) }),
    ...acceptSelection(request),
    ...(request.label === undefined ? {} : { label: acceptLabel(request.label) }),
  };
  const { state, position } = await onAccount(deps, context, accountId, (account, at) =>
    change(account, { webhookId, ...changed, at, baseHost: deps.baseHost }),
  );
  const { url, label, events, kinds, via, domains, tags } = liveWebhook(state, webhookId);
  return { webhookId, url, label, events, kinds, via, domains, tags, position };
}

/**
 * Nothing is sent to it until it is resumed. Its owner and the operator do both; the delivery worker pauses one that keeps
 * failing. `isNew`: false when it was paused already.
 * @throws account_not_found, webhook_not_found
 */
export async function pauseWebhook(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  webhookId: string,
  request: { reason?: string | undefined; cause?: WebhookPauseCause | undefined } = {},
): Promise<Appended & { isNew: boolean }> {
  const by = pauserOf(context.actor);
  const reason = cleanText(request.reason?.trim() ?? "", MAX_REASON_LENGTH);
  const { cause } = request;
  const { events, position } = await onAccount(deps, context, accountId, (account, at) =>
    pause(account, { webhookId, by, ...(reason && { reason }), ...(cause && { cause }), at }),
  );
  return { isNew: events.length > 0, position };
}

/**
 * Clicks recorded while it was paused are sent only by a replay.
 * @throws account_not_found, tier_required, webhook_not_found, webhook_held, history_full
 */
export const resumeWebhook = accountCommand((account, { at, actor }, webhookId: string) =>
  resume(account, { webhookId, by: pauserOf(actor), at }),
);

/**
 * Deletes its keys, too; can be repeated after a crash. The webhook router cancels its pending deliveries.
 * @throws account_not_found, webhook_not_found
 */
export async function removeWebhook(
  deps: CommandDeps & Pick<WebhookKeyDeps, "secrets">,
  context: CommandContext,
  accountId: string,
  webhookId: string,
): Promise<Appended> {
  const removed = await changeAccount(deps, context, accountId, (account, at) =>
    remove(account, { webhookId, at }),
  );
  await forgetWebhookKeys(deps.secrets, webhookId);
  return removed;
}

function pauserOf({ type }: Actor): WebhookPauser {
  return type === "operator" || type === "system" ? type : "user";
}

/** The normalised URL without its fragment, which is never sent. @throws invalid_webhook */
function acceptReceiver(deps: AcceptWebhookDeps, text: string): string {
  try {
    const url = deps.receiverUrl(text.trim());
    if (isThisService(deps, url)) throw invalid("url", "The webhook URL must not point back to this service");
    url.hash = "";
    return url.href;
  } catch (error) {
    throw isRefused(error) ? invalid("url", error.message, error) : error;
  }
}

/** What is chosen, without what is omitted. @throws invalid_webhook */
function acceptSelection({
  events,
  kinds,
  via,
  domains,
  tags,
}: ChangeWebhookRequest): Partial<WebhookSelection> {
  return {
    ...(events && { events: acceptNames("events", events, WEBHOOK_EVENTS) }),
    ...(kinds && { kinds: acceptNames("kinds", kinds, CLICK_KINDS) }),
    ...(via && { via: acceptNames("via", via, CREATED_VIA) }),
    ...(domains && { domains: acceptTexts("domains", domains).map(acceptDomain) }),
    ...(tags && { tags: acceptTexts("tags", tags) }),
  };
}

const NAMED = { events: "events", kinds: "kinds", via: "links" } as const;

/** @throws invalid_webhook for an empty list or an unknown name */
function acceptNames<N extends string>(
  what: keyof typeof NAMED,
  wanted: readonly string[],
  allowed: readonly N[],
): N[] {
  const names = allowed.filter((name) => wanted.includes(name));
  if (names.length === 0 || !wanted.every((name) => (allowed as readonly string[]).includes(name)))
    throw invalid(what, `The ${NAMED[what]} of a webhook are one or more of ${allowed.join(", ")}`);
  return names;
}

/** Which the account need not have yet. @throws invalid_webhook for what is no host */
function acceptDomain(written: string): string {
  const host = hostName(written);
  if (host === "") throw invalid("domains", `“${written}” is no domain, such as go.example.com`);
  return host;
}

/** As links have them. @throws invalid_webhook for too many */
function acceptTexts(what: string, wanted: readonly string[]): string[] {
  const texts = new Set(wanted.map((text) => cleanText(text.trim(), MAX_CHOSEN_LENGTH)).filter(Boolean));
  if (texts.size > MOST_CHOSEN) throw invalid(what, `A webhook chooses at most ${MOST_CHOSEN} ${what}`);
  return [...texts];
}

function invalid(field: string, message: string, cause?: unknown): Refused {
  return new Refused("invalid_webhook", message, { field, cause });
}
