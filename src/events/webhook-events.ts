// Webhooks' events in `account-<uuid>`, where the limit of five is an invariant. No key in clear, no credentials in a URL.
import { z } from "zod";
import type { EventDefinition } from "./definition.ts";
import { CLICK_KINDS, WEBHOOK_PAUSE_CAUSES, WEBHOOK_PAUSERS } from "./vocabulary.ts";

const ofWebhook = { accountId: z.uuid(), webhookId: z.uuid(), at: z.iso.datetime() };

/** What its owner sets. `url`: without user name, password and fragment. `kinds`: which kinds of click it is sent. */
const settings = { url: z.string(), kinds: z.array(z.enum(CLICK_KINDS)).min(1), label: z.string() };

export const webhookEvents = {
  /** `keyHint`: the key's last four characters; the key itself is among the secrets. */
  WebhookAdded: { version: 1, schema: z.object({ ...ofWebhook, ...settings, keyHint: z.string() }) },
  /** All settings as they are from now on. */
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
  /** Until `previousUntil` deliveries are signed with the key before it too. */
  WebhookKeyRotated: {
    version: 1,
    schema: z.object({ ...ofWebhook, keyHint: z.string(), previousUntil: z.iso.datetime() }),
  },
  WebhookRemoved: { version: 1, schema: z.object({ ...ofWebhook }) },
} as const satisfies Record<string, EventDefinition>;
