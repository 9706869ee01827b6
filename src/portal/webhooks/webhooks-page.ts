// GET and POST /portal/webhooks: lists and adds webhooks; shows a new webhook's key once.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { type AddedWebhook, addWebhook } from "../../commands/webhooks/webhooks.ts";
import {
  CLICK_KINDS,
  type ClickKind,
  hasDeveloperFeatures,
  WEBHOOK_DEFAULT_KINDS,
} from "../../events/vocabulary.ts";
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import { listWebhooks } from "../../queries/webhooks.ts";
import { KIND_NAMES } from "../analytics/series-figure.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { copyable, field } from "../shell/form.ts";
import { formRoute, type RefusedForm } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { type Column, card, formCard, pageHead, table } from "../shell/parts.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";

/** What isn't given, or can't be, is empty: the use case says what is wrong. One checked box is a string, several a list. */
export const WebhookForm = z.object({
  url: z.string().catch(""),
  label: z.string().catch(""),
  kinds: z.preprocess((given) => [given ?? []].flat(), z.array(z.enum(CLICK_KINDS))).catch([]),
});

const LIST = "/portal/webhooks";

export function webhookPath(webhookId: string, below = ""): string {
  return `${LIST}/${webhookId}${below}`;
}

export function webhookName({ label, url }: Pick<WebhookDocument, "label" | "url">): string {
  return label || new URL(url).host;
}

export function webhookBadge({ status }: Pick<WebhookDocument, "status">): Html {
  const [tone, name] = status === "active" ? ["good", "Active"] : ["warn", "Paused"];
  return html`<span class="badge badge-${tone}">${name}</span>`;
}

export function webhooksPage(app: Api, deps: PortalDeps): void {
  app.get("/webhooks", { preHandler: requireSession }, (_, reply) => sendList(deps, reply));

  formRoute(app, deps, "/webhooks", {
    schema: { body: WebhookForm },
    async run({ session: { accountId }, context, body, reply }) {
      const added = await addWebhook(deps, context, accountId, body);
      return { position: added.position, to: () => sendKey(reply, "Your new webhook", added) };
    },
    again: (refused, _, reply) => sendList(deps, reply, refused),
    path: LIST,
  });
}

async function sendList(deps: PortalDeps, reply: FastifyReply, refused?: RefusedForm): Promise<FastifyReply> {
  const { accountId, tier } = signedIn(reply.request);
  const webhooks = await listWebhooks(deps, accountId);
  const mayAdd = hasDeveloperFeatures(tier);
  const limit = deps.limits.webhooks;
  const isFull = webhooks.length >= limit;
  const used = mayAdd ? `${webhooks.length} of ${limit} webhooks. ` : "";
  return sendPage(reply, {
    title: "Webhooks",
    nav: "Webhooks",
    status: refused?.status,
    body: html`${pageHead("Webhooks", { lead: `${used}Your own server is told of each click, a moment after it happened.` })}
${webhooks.length > 0 && card("Your webhooks", table("Webhooks, oldest first", COLUMNS, webhooks))}
${!mayAdd ? withDeveloper : isFull ? full : addCard(refused)}`,
  });
}

const withDeveloper = html`<section class="card empty">${icon("send")}<h2>Webhooks come with the Developer plan</h2>
<p>Each click is sent to an address of yours as signed JSON, tried again for 27 hours when it doesn't get through, and kept in a log for 30 days.</p>
<p><a class="button button-primary" href="/portal/plan">Look at the Developer plan</a></p></section>`;

const full = html`<section class="card"><p class="muted">That is as many as an account can have: remove one to add another.</p></section>`;

const COLUMNS: Column<WebhookDocument>[] = [
  {
    name: "Webhook",
    cell: (one) => html`<a href="${webhookPath(one._id)}"><strong>${webhookName(one)}</strong></a>`,
  },
  { name: "URL", cell: ({ url }) => html`<span class="break">${url}</span>` },
  { name: "State", cell: webhookBadge },
  { name: "Key", cell: ({ keyHint }) => html`<code>…${keyHint}</code>` },
];

function addCard(refused: RefusedForm | undefined): Html {
  return formCard("Add a webhook", {
    ...{ action: LIST, button: html`${icon("plus")}Add webhook`, buttonKind: "primary" },
    fields: settingsFields({ url: "", label: "", kinds: WEBHOOK_DEFAULT_KINDS }, refused),
  });
}

/** Of a new webhook or of one that is changed. `refused`: as typed, and why it was refused. */
export function settingsFields(
  settings: { url: string; label: string; kinds: readonly ClickKind[] },
  refused: RefusedForm | undefined,
): Html {
  const { url, label, kinds }: typeof settings = refused ? WebhookForm.parse(refused.typed) : settings;
  const kind = (one: ClickKind) =>
    html`<label class="check"><input type="checkbox" name="kinds" value="${one}" ${kinds.includes(one) && html`checked`}>${KIND_NAMES[one]}</label>`;
  return html`${field({
    ...{ label: "URL", name: "url", type: "url", value: url, error: refused?.message },
    ...{ required: true, maxlength: 2048, autocomplete: "off" },
    placeholder: "https://example.com/hooks/linkledger",
    hint: "We send it a POST for each click on a link that was made through the API.",
  })}
${field({
  ...{ label: "Label", name: "label", value: label, maxlength: 100, autocomplete: "off" },
  placeholder: "To tell webhooks apart",
})}
<fieldset class="field"><legend>Sent for</legend><div class="actions">${CLICK_KINDS.map(kind)}</div></fieldset>`;
}

/** After a webhook was added, and after its key was rotated. */
export function sendKey(
  reply: FastifyReply,
  title: string,
  { key, webhookId }: Pick<AddedWebhook, "key" | "webhookId">,
): FastifyReply {
  const body = html`<section class="card"><h1>${title}</h1>
<p>This is its key. Copy it now: it is shown this once only.</p>
${copyable("new-key", key, "the key")}
<h2>How your server knows us</h2>
<p>Each request brings the key as <code>X-API-Key</code>: refuse what doesn't match. Better still, check <code>webhook-signature</code>: it is made with this key after the <a href="https://www.standardwebhooks.com/" rel="noreferrer noopener">Standard Webhooks</a> rules, for which there are libraries. Answer with any 2xx status within 15 seconds.</p>
<p><a class="button button-primary" href="${webhookPath(webhookId)}">Try it out</a></p></section>`;
  return sendPage(reply, { title, nav: "Webhooks", body });
}
