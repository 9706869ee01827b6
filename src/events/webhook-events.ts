// Events of webhooks in `account-<uuid>`, which holds the limit of five; without keys, and URLs without credentials.
import { z } from "zod";
import type { EventDefinition } from "./definition.ts";
import { CLICK_KINDS, WEBHOOK_PAUSE_CAUSES, WEBHOOK_PAUSERS } from "./vocabulary.ts";

const ofWebhook = { accountId: z.uuid(), webhookId: z.uuid(), at: z.iso.datetime() };

/** Chosen by the owner. `url`: without user name, password and fragment. `kinds`: the kinds of click that it gets. */
const settings = { url: z.string(), kinds: z.array(z.enum(CLICK_KINDS)).min(1), label: z.string() };

export const webhookEvents = {
  /** `keyHint`: the key's last four characters; the key itself is in the secret store. */
  WebhookAdded: { version: 1, schema: z.object({ ...ofWebhook, ...settings, keyHint: z.string() }) },
  /** Contains all settings, changed or not. */
  WebhookChanged: { version: 1, schema: z.object({ ...ofWebhook, ...settings }) },
  WebhookPaused: {
    version: 1,
    schema: z.object({
      ...ofWebhook,
      by: z.enum(WEBHOOK_PAUSERS),
      reason: z.string().optional(),
      cause: z.enum(WEBHOOK_PAUSE_CAUSES).optional(),
    }),
  },
  WebhookResumed: { version: 1, schema: z.object({ ...ofWebhook }) },
  /** `previousUntil`: until then deliveries are signed with the previous key too. */
  WebhookKeyRotated: {
    version: 1,
    schema: z.object({ ...ofWebhook, keyHint: z.string(), previousUntil: z.iso.datetime() }),
  },
  WebhookRemoved: { version: 1, schema: z.object({ ...ofWebhook }) },
} as const satisfies Record<string, EventDefinition>;
