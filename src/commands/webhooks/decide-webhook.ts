// Decider of an account's webhooks (interface, part 6), which account.ts folds. Pure.
import type { AccountEvent } from "../../events/catalogue.ts";
import {
  CLICK_KINDS,
  CREATED_VIA,
  INTERFACE_LIMITS,
  STREAM_LIMITS,
  type WebhookPauseCause,
  type WebhookPauser,
} from "../../events/vocabulary.ts";
import {
  type ChosenSelection,
  chosenOf,
  selectionOf,
  WEBHOOK_EVENTS,
  type WebhookSelection,
} from "../../events/webhook-selection.ts";
import {
  type AccountState,
  type LiveWebhook,
  liveWebhooks,
  type OpenAccount,
  opened,
  type WebhookSettings,
  withRoom,
} from "../account/account.ts";
import { requireDeveloper } from "../caller.ts";
import { Refused } from "../refusals.ts";

/** `baseHost`: of the service, whose links are on no domain of the account. */
type NewWebhook = ChosenSelection & {
  webhookId: string;
  url: string;
  label: string;
  keyHint: string;
  publicKey?: string;
  at: string;
  baseHost?: string | undefined;
};

/** `limit`: of an account. @throws account_not_found, tier_required, webhook_limit_reached (paused ones count), history_full */
export function add(account: AccountState, c: NewWebhook, limit = INTERFACE_LIMITS.webhooks): AccountEvent[] {
  const owner = withWebhooks(account);
  const { accountId, webhooks } = owner;
  if (webhooks.size >= STREAM_LIMITS.webhooksAdded)
    throw new Refused(
      "history_full",
      `This account has added ${STREAM_LIMITS.webhooksAdded} webhooks, as many as one account can: change one that it has, or open another account`,
    );
  if (liveWebhooks({ webhooks }) >= limit)
    throw new Refused("webhook_limit_reached", `The webhook limit of ${limit} is reached`);
  refuseForeign(owner, c);
  const { webhookId, url, label, keyHint, publicKey, at } = c;
  const chosen = chosenOf(inOrder(selectionOf(c)));
  const keys = { keyHint, ...(publicKey !== undefined && { publicKey }) };
  return [{ type: "WebhookAdded", data: { accountId, webhookId, url, label, ...keys, at, ...chosen } }];
}

/** Omitted settings stay. @throws account_not_found, tier_required, webhook_not_found, invalid_webhook, history_full */
export function change(
  account: AccountState,
  c: Partial<WebhookSettings> & { webhookId: string; at: string; baseHost?: string | undefined },
): AccountEvent[] {
  const owner = withWebhooks(account);
  const before = liveWebhook(account, c.webhookId);
  const { webhookId, at, baseHost, ...settings } = c;
  refuseForeign(owner, c);
  const wanted = settingsData({ ...before, ...settings });
  if (JSON.stringify(wanted) === JSON.stringify(settingsData(before))) return [];
  return [{ type: "WebhookChanged", data: { accountId: owner.accountId, webhookId, ...wanted, at } }];
}

/**
 * Pausing a paused webhook changes nothing, except that the operator's pause replaces another one.
 * @throws account_not_found, webhook_not_found
 */
export function pause(
  account: AccountState,
  c: { webhookId: string; by: WebhookPauser; reason?: string; cause?: WebhookPauseCause; at: string },
): AccountEvent[] {
  const { accountId } = opened(account);
  const webhook = liveWebhook(account, c.webhookId);
  const stays = webhook.status === "paused" && (c.by !== "operator" || webhook.pausedBy === "operator");
  return stays ? [] : [{ type: "WebhookPaused", data: { accountId, ...c } }];
}

/**
 * Only the operator resumes a webhook that the operator paused.
 * @throws account_not_found, tier_required, webhook_not_found, webhook_held, history_full
 */
export function resume(
  account: AccountState,
  c: { webhookId: string; by: WebhookPauser; at: string },
): AccountEvent[] {
  const { accountId } = withWebhooks(account);
  const webhook = liveWebhook(account, c.webhookId);
  if (webhook.status === "active") return [];
  if (webhook.pausedBy === "operator" && c.by !== "operator") throw new Refused("webhook_held");
  return [{ type: "WebhookResumed", data: { accountId, webhookId: c.webhookId, at: c.at } }];
}

/**
 * Allowed on every tier, because a leaked key must be replaceable. Resumes a webhook that was paused because its key was
 * missing.
 * @throws account_not_found, webhook_not_found, history_full
 */
export function rotateKey(
  account: AccountState,
  c: { webhookId: string; keyHint: string; publicKey?: string; previousUntil: string; at: string },
): AccountEvent[] {
  const { accountId } = withRoom(account);
  const webhook = liveWebhook(account, c.webhookId);
  const { webhookId, at } = c;
  const hadNoKey = webhook.status === "paused" && webhook.cause === "key_missing";
  const rotated: AccountEvent = { type: "WebhookKeyRotated", data: { accountId, ...c } };
  return hadNoKey ? [rotated, { type: "WebhookResumed", data: { accountId, webhookId, at } }] : [rotated];
}

/** Idempotent. @throws account_not_found; webhook_not_found for one that was never added */
export function remove(account: AccountState, c: { webhookId: string; at: string }): AccountEvent[] {
  const { accountId, webhooks } = opened(account);
  const webhook = webhooks.get(c.webhookId);
  if (!webhook) throw new Refused("webhook_not_found");
  if (webhook.status === "removed") return [];
  return [{ type: "WebhookRemoved", data: { accountId, ...c } }];
}

/** The webhook, unless it is removed. @throws account_not_found, webhook_not_found */
export function liveWebhook(account: AccountState, webhookId: string): LiveWebhook {
  const webhook = opened(account).webhooks.get(webhookId);
  if (!webhook || webhook.status === "removed") throw new Refused("webhook_not_found");
  return webhook;
}

/** The account, for adding, changing and resuming a webhook. @throws account_not_found, tier_required, history_full */
function withWebhooks(account: AccountState): OpenAccount {
  requireDeveloper(opened(account).tier, "Webhooks");
  return withRoom(account);
}

/** A host of nobody's would never be told of. @throws invalid_webhook */
function refuseForeign(
  { domains }: OpenAccount,
  {
    domains: chosen = [],
    baseHost,
  }: { domains?: readonly string[] | undefined; baseHost?: string | undefined },
): void {
  const foreign = chosen.find((host) => host !== baseHost && !domains.has(host));
  if (foreign !== undefined)
    throw new Refused(
      "invalid_webhook",
      `${foreign} is no domain of this account, and not that of this service`,
      { field: "domains" },
    );
}

function settingsData({ url, label, ...selection }: WebhookSettings) {
  return { url, label, ...chosenOf(inOrder(selection)) };
}

/** Without duplicates, and in one order, so that equal settings compare equal. */
function inOrder({ events, kinds, via, domains, tags }: WebhookSelection): WebhookSelection {
  return {
    events: WEBHOOK_EVENTS.filter((event) => events.includes(event)),
    kinds: CLICK_KINDS.filter((kind) => kinds.includes(kind)),
    via: CREATED_VIA.filter((way) => via.includes(way)),
    domains: [...new Set(domains)].sort(),
    tags: [...new Set(tags)].sort(),
  };
}
