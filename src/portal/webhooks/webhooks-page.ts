// GET and POST /portal/webhooks: lists and adds webhooks; shows a new webhook's key once.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { type AddedWebhook, addWebhook } from "../../commands/webhooks/change-webhooks.ts";
import { type CreatedVia, hasDeveloperFeatures, WEBHOOK_DEFAULT_KINDS } from "../../events/vocabulary.ts";
import { selectionOf, type WebhookEventName } from "../../events/webhook-selection.ts";
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import { listWebhooks } from "../../queries/webhooks.ts";
import { TRIES_IN_WORDS } from "../../webhooks/delivery/schedule.ts";
import { KIND_NAMES } from "../analytics/value-names.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { type Fields, schemaOf } from "../shell/controls.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { badge, type Columns, copyable, emptyCard, tableCard } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import type { RefusedForm } from "../shell/refused-form.ts";
import { signedIn } from "../shell/sessions.ts";

export const EVENT_NAMES: Readonly<Record<WebhookEventName, string>> = {
  "link.clicked": "Clicked",
  "link.created": "Created",
  "link.updated": "Changed",
  "link.deleted": "Deleted",
  "link.expired": "Expired",
  "link.limit_reached": "Limit reached",
};

const COMMAS = "Separated by commas; empty for all links.";
const VIA_NAMES: Readonly<Record<CreatedVia, string>> = { api: "through the API", web: "in the portal" };

/** What a schema alone would cut or refuse in other words is left to the use case. */
const text = z.string().catch("");

/** Of a new webhook and of one that is changed; what isn't in the form stays as it is. */
export const WEBHOOK_FIELDS = {
  url: {
    label: "URL",
    type: "url",
    required: true,
    maxlength: 2048,
    placeholder: "https://example.com/hooks/linkledger",
    hint: "We send it a POST for each event that is chosen below.",
    schema: text,
  },
  label: { label: "Label", maxlength: 100, placeholder: "To tell webhooks apart", schema: text },
  events: { label: "Sent when a link is", options: Object.entries(EVENT_NAMES), boxes: true },
  kinds: { label: "Clicks that count", options: Object.entries(KIND_NAMES), boxes: true },
  via: { label: "Links that were made", options: Object.entries(VIA_NAMES), boxes: true },
  domains: { label: "Only on these domains", isList: true, isExact: true, hint: COMMAS },
  tags: { label: "Only with one of these tags", isList: true, isExact: true, hint: COMMAS },
} satisfies Fields;

const LIST = "/portal/webhooks";
const LAST_TRIES = 5;
/** Of these, some may not have been tried yet. */
const NEWEST = 20;

export function webhookPath(webhookId: string, below = ""): string {
  return `${LIST}/${webhookId}${below}`;
}

export function webhookName({ label, url }: Pick<WebhookDocument, "label" | "url">): string {
  return label || new URL(url).host;
}

export function webhookBadge({ status }: Pick<WebhookDocument, "status">): Html {
  return status === "active" ? badge("good", "Active") : badge("warn", "Paused");
}

export function webhooksPage(app: Api, deps: PortalDeps): void {
  const show = (reply: FastifyReply, refused?: RefusedForm) => sendList(deps, reply, refused);
  app.get("/webhooks", (_, reply) => show(reply));

  formRoute(app, deps, "/webhooks", {
    schema: { body: schemaOf(WEBHOOK_FIELDS) },
    async run({ session: { accountId }, context, body, reply }) {
      const added = await addWebhook(deps, context, accountId, body);
      return { position: added.position, to: () => sendKey(reply, "Your new webhook", added) };
    },
    again: show,
  });
}

async function sendList(deps: PortalDeps, reply: FastifyReply, refused?: RefusedForm): Promise<FastifyReply> {
  const { accountId, tier } = signedIn(reply.request);
  const webhooks = await Promise.all(
    (await listWebhooks(deps, accountId)).map(async (webhook) => ({
      ...webhook,
      recent: await recentFailures(deps, webhook._id),
    })),
  );
  const mayAdd = hasDeveloperFeatures(tier);
  const limit = deps.limits.webhooks;
  const used = mayAdd ? `${webhooks.length} of ${limit} webhooks. ` : "";
  return sendPage(reply, {
    title: "Webhooks",
    nav: "Webhooks",
    lead: `${used}Your own server is told of each click on a link, a moment after it happened, and of what becomes of links, if you choose so: of links made through the API, and of those made in the portal where a webhook says so.`,
    refused,
    cards: [
      tableCard("Your webhooks", COLUMNS, webhooks),
      !mayAdd
        ? withDeveloper
        : webhooks.length >= limit
          ? {
              title: "All webhooks are in use",
              lead: "That is as many as an account can have: remove one to add another.",
            }
          : {
              title: "Add a webhook",
              form: {
                action: LIST,
                fields: WEBHOOK_FIELDS,
                values: selectionOf({ kinds: WEBHOOK_DEFAULT_KINDS }),
                button: html`${icon("plus")}Add webhook`,
                buttonKind: "primary",
              },
            },
    ],
  });
}

const withDeveloper = emptyCard(
  "send",
  "Webhooks come with the Developer plan",
  html`Each click is sent to an address of yours as signed JSON, sent ${TRIES_IN_WORDS} until it gets through, and kept in a log for 30 days.</p>
<p><a class="button button-primary" href="/portal/plan">Look at the Developer plan</a>`,
);

const COLUMNS: Columns<WebhookDocument & { recent: RecentTries }> = {
  Webhook: (webhook) =>
    html`<a href="${webhookPath(webhook._id)}"><strong>${webhookName(webhook)}</strong></a>`,
  URL: ({ url }) => html`<span class="break">${url}</span>`,
  "Told of": ({ events }) => events.map((event) => EVENT_NAMES[event]).join(", "),
  State: (webhook) => html`${webhookBadge(webhook)} ${failingBadge(webhook.recent)}`,
  Key: ({ keyHint }) => html`<code>…${keyHint}</code>`,
};

/** Of the last deliveries that were tried. */
type RecentTries = { tried: number; failed: number };

export async function recentFailures(
  { deliveryQueue }: Pick<PortalDeps, "deliveryQueue">,
  webhookId: string,
): Promise<RecentTries> {
  const newest = await deliveryQueue.list({ webhookId, limit: NEWEST });
  const tries = newest.flatMap(({ lastAttempt }) => lastAttempt ?? []).slice(0, LAST_TRIES);
  return { tried: tries.length, failed: tries.filter(({ error }) => error !== null).length };
}

export function failingBadge({ tried, failed }: RecentTries): Html | undefined {
  if (failed === 0) return undefined;
  return badge("bad", `${failed} of the last ${tried} failed`);
}

/** After a webhook was added, and after its key was rotated. */
export function sendKey(
  reply: FastifyReply,
  title: string,
  { key, publicKey, webhookId }: Pick<AddedWebhook, "key" | "publicKey" | "webhookId">,
): FastifyReply {
  const body = html`<p>This is its key. Copy it now: it is shown this once only.</p>
${copyable("new-key", key, "the key")}
<h3>How your server knows us</h3>
<p>Each request brings the key as <code>X-API-Key</code>: refuse what doesn't match. Better still, check <code>webhook-signature</code>: it is made with this key after the <a href="https://www.standardwebhooks.com/" rel="noreferrer noopener">Standard Webhooks</a> rules, for which there are libraries. Who should verify deliveries without knowing the key gets the public key, which is shown below the webhook's settings, too: the signatures that begin with <code>v1a</code> are checked by it.</p>
${copyable("new-public-key", publicKey, "the public key")}
<p>Answer with any 2xx status within 15 seconds.</p>
<p><a class="button button-primary" href="${webhookPath(webhookId)}">Try it out</a></p>`;
  return sendPage(reply, { title, nav: "Webhooks", cards: [{ title: "Its key", body }] });
}
