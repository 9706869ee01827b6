// Events of webhooks in `account-<uuid>`, which holds the limit of five; without keys, and URLs without credentials.
import { z } from "zod";
import { eventType } from "./definition.ts";
import { CLICK_KINDS, WEBHOOK_PAUSE_CAUSES, WEBHOOK_PAUSERS } from "./vocabulary.ts";

const ofWebhook = {
  accountId: z.uuid().describe("The account"),
  webhookId: z.uuid().describe("The webhook"),
  at: z.iso.datetime().describe("When it happened"),
};
const keyHint = z.string().describe("The last four characters of its key");

/** Chosen by the owner. */
const settings = {
  /** Without user name, password and fragment; internal, as the path or query of a receiver is often its secret. */
  url: z.string(),
  kinds: z.array(z.enum(CLICK_KINDS)).min(1).describe("The kinds of click that it gets"),
  label: z.string().describe("As typed by the owner"),
};

export const webhookEvents = {
  WebhookAdded: eventType(1, "A webhook was added.", { ...ofWebhook, ...settings, keyHint }, ["url"]),
  WebhookChanged: eventType(
    1,
    "Settings of a webhook were changed; holds all of them, changed or not.",
    { ...ofWebhook, ...settings },
    ["url"],
  ),
  WebhookPaused: eventType(1, "A webhook was paused.", {
    ...ofWebhook,
    by: z.enum(WEBHOOK_PAUSERS).describe("Its owner, the operator, or the service after too many failures"),
    reason: z.string().optional().describe("For people"),
    cause: z.enum(WEBHOOK_PAUSE_CAUSES).optional().describe("Present when its key was missing"),
  }),
  WebhookResumed: eventType(1, "A paused webhook was resumed.", ofWebhook),
  WebhookKeyRotated: eventType(1, "A webhook got a new key.", {
    ...ofWebhook,
    keyHint,
    previousUntil: z.iso.datetime().describe("Until then deliveries are signed with the previous key too"),
  }),
  WebhookRemoved: eventType(1, "A webhook was removed.", ofWebhook),
};
