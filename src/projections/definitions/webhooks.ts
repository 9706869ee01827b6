// The present state of each webhook, for its owner's pages and for deliveries (interface, parts 2 and 6).
import type { ClickKind, CreatedVia, WebhookPauseCause, WebhookPauser } from "../../events/vocabulary.ts";
import { type ChosenSelection, selectionOf, type WebhookEventName } from "../../events/webhook-selection.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: webhookId. `previousKeyUntil`: until then deliveries are signed with the previous key too. */
export type WebhookDocument = Document & {
  accountId: string;
  url: string;
  label: string;
  events: WebhookEventName[];
  kinds: ClickKind[];
  via: CreatedVia[];
  domains: string[];
  tags: string[];
  status: "active" | "paused" | "removed";
  pausedBy: WebhookPauser | null;
  reason: string | null;
  /** Only while the service, not its owner, has paused it. */
  cause?: WebhookPauseCause;
  pausedAt: string | null;
  keyHint: string;
  publicKey: string | null;
  previousKeyUntil: string | null;
  addedAt: string;
  changedAt: string;
};

const running = { pausedBy: null, reason: null, pausedAt: null } as const;

const HANDLED = [
  "WebhookAdded",
  "WebhookChanged",
  "WebhookPaused",
  "WebhookResumed",
  "WebhookKeyRotated",
  "WebhookRemoved",
] as const;

export const webhooks: Projection<WebhookDocument, (typeof HANDLED)[number]> = {
  collection: { name: "webhooks", indexes: [["accountId", "addedAt"], ["url"]] },
  handles: HANDLED,
  key: ({ data }) => data.webhookId,
  empty: (event) => ({
    accountId: event.data.accountId,
    url: "",
    label: "",
    events: [],
    kinds: [],
    via: [],
    domains: [],
    tags: [],
    status: "removed",
    ...running,
    keyHint: "",
    publicKey: null,
    previousKeyUntil: null,
    addedAt: event.data.at,
    changedAt: event.data.at,
  }),
  evolve(webhook, event) {
    const changedAt = event.data.at;
    switch (event.type) {
      case "WebhookAdded": {
        const { accountId, url, label, keyHint, publicKey = null } = event.data;
        const settings = { accountId, url, label, keyHint, publicKey, ...selectionIn(event.data) };
        return { ...webhook, ...settings, status: "active", addedAt: changedAt, changedAt };
      }
      case "WebhookChanged": {
        const { url, label } = event.data;
        return { ...webhook, url, label, ...selectionIn(event.data), changedAt };
      }
      case "WebhookPaused": {
        const { by, reason = null, cause } = event.data;
        const { cause: _, ...before } = webhook;
        const why = { pausedBy: by, reason, ...(cause && { cause }) };
        return { ...before, status: "paused", ...why, pausedAt: changedAt, changedAt };
      }
      case "WebhookResumed": {
        const { cause: _, ...before } = webhook;
        return { ...before, status: "active", ...running, changedAt };
      }
      case "WebhookKeyRotated": {
        const { keyHint, publicKey = null, previousUntil } = event.data;
        return { ...webhook, keyHint, publicKey, previousKeyUntil: previousUntil, changedAt };
      }
      case "WebhookRemoved": {
        const { cause: _, ...before } = webhook;
        return { ...before, status: "removed", ...running, changedAt };
      }
    }
  },
};

/** Lists of the document's own. */
function selectionIn(data: ChosenSelection) {
  const { events, kinds, via, domains, tags } = selectionOf(data);
  return { events: [...events], kinds: [...kinds], via: [...via], domains: [...domains], tags: [...tags] };
}
