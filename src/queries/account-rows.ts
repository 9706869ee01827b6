// Rows of lists of keys, domains and webhooks, as the command line and the console's JSON answer them.
import type { DomainDocument } from "../projections/definitions/domains.ts";
import type { KeyDocument } from "../projections/definitions/keys.ts";
import type { WebhookDocument } from "../projections/definitions/webhooks.ts";

export function keyRow(key: KeyDocument) {
  return { key_id: key._id, label: key.label, hint: key.hint, status: key.status, issued_at: key.issuedAt };
}

export function domainRow(domain: DomainDocument) {
  const { domainId, hostname, state, active, addedAt, verifiedAt } = domain;
  return { domain_id: domainId, hostname, state, active, added_at: addedAt, verified_at: verifiedAt };
}

export function webhookRow(webhook: WebhookDocument) {
  return {
    webhook_id: webhook._id,
    account_id: webhook.accountId,
    url: webhook.url,
    label: webhook.label,
    kinds: webhook.kinds,
    status: webhook.status,
    paused_by: webhook.pausedBy,
    reason: webhook.reason,
    cause: webhook.cause ?? null,
    paused_at: webhook.pausedAt,
    key_hint: webhook.keyHint,
    previous_key_until: webhook.previousKeyUntil,
    added_at: webhook.addedAt,
    changed_at: webhook.changedAt,
  };
}
