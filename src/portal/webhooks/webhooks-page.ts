// GET and POST /portal/webhooks: lists and adds webhooks; shows a new webhook's key once.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { type AddedWebhook, addWebhook } from "../../commands/webhooks/webhooks.ts";
import {
  CLICK_KINDS,
  type ClickKind,
  TIER_LIMITS,
  WEBHOOK_DEFAULT_KINDS,
  WEBHOOKS_PER_ACCOUNT,
} from "../../events/vocabulary.ts";
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import { listWebhooks } from "../../queries/webhooks.ts";
import { isClientError, type Refused } from "../../runtime/refused.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { copyable } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { portalContext } from "../shell/visit.ts";
import { settingsFields, webhookBadge, webhookName, webhookPath } from "./webhook-view.ts";

/** One checked box is parsed as a string, several as an array. */
const Kinds = z.preprocess(
  (given) => (given === undefined ? [] : [given].flat()),
  z.array(z.enum(CLICK_KINDS)),
);

export const WebhookForm = z.object({
  url: z.string().default(""),
  label: z.string().default(""),
  kinds: Kinds,
});

/** Settings as typed, and why they were refused. */
export type RefusedSettings = { refused: Refused; url: string; label: string; kinds: ClickKind[] };

export function webhooksPage(app: Api, deps: PortalDeps): void {
  const preHandler = requireSession;
  app.get("/webhooks", { preHandler }, (request, reply) => sendList(deps, request, reply));

  app.post("/webhooks", { preHandler, schema: { body: WebhookForm } }, async (request, reply) => {
    const { accountId } = signedIn(request);
    try {
      const added = await addWebhook(deps, portalContext(request), accountId, request.body);
      await deps.whenReadable(added.position);
      const title = "Your new webhook";
      return sendPage(reply, { title, nav: "Webhooks", body: keyCard(title, added) });
    } catch (refused) {
      if (!isClientError(refused)) throw refused;
      return sendList(deps, request, reply, { refused, ...request.body });
    }
  });
}

async function sendList(
  deps: PortalDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  given?: RefusedSettings,
): Promise<FastifyReply> {
  const { accountId, tier } = signedIn(request);
  const webhooks = await listWebhooks(deps, accountId);
  const allowed = TIER_LIMITS[tier].developerFeatures;
  return sendPage(reply, {
    title: "Webhooks",
    nav: "Webhooks",
    status: given ? 400 : 200,
    body: html`<div class="page-head"><div><h1>Webhooks</h1>
<p class="muted">${allowed ? `${webhooks.length} of ${WEBHOOKS_PER_ACCOUNT} webhooks. ` : ""}Your own server is told of each click, a moment after it happened.</p></div></div>
${webhooks.length > 0 && webhookTable(webhooks)}
${!allowed ? withDeveloper : webhooks.length < WEBHOOKS_PER_ACCOUNT ? addCard(given) : full}`,
  });
}

const withDeveloper = html`<section class="card empty">${icon("send")}<h2>Webhooks come with the Developer plan</h2>
<p>Each click is sent to an address of yours as signed JSON, tried again for 27 hours when it doesn't get through, and kept in a log for 30 days.</p>
<p><a class="button button-primary" href="/portal/plan">Look at the Developer plan</a></p></section>`;

const full = html`<section class="card"><p class="muted">That is as many as an account can have: remove one to add another.</p></section>`;

function webhookTable(webhooks: readonly WebhookDocument[]): Html {
  return html`<section class="card"><h2>Your webhooks</h2><table class="table">
<thead><tr><th scope="col">Webhook</th><th scope="col">URL</th><th scope="col">State</th><th scope="col">Key</th></tr></thead>
<tbody>${webhooks.map(
    (
      webhook,
    ) => html`<tr><td><a href="${webhookPath(webhook._id)}"><strong>${webhookName(webhook)}</strong></a></td>
<td data-label="URL"><span class="break">${webhook.url}</span></td>
<td data-label="State">${webhookBadge(webhook)}</td>
<td data-label="Key"><code>…${webhook.keyHint}</code></td></tr>`,
  )}</tbody></table></section>`;
}

function addCard(given: RefusedSettings | undefined): Html {
  const { url, label, kinds = WEBHOOK_DEFAULT_KINDS, refused } = given ?? {};
  return html`<section class="card"><h2>Add a webhook</h2>
<form method="post" action="/portal/webhooks" class="form">
${settingsFields({ url, label, kinds, error: refused?.message })}
<div><button class="button button-primary">${icon("plus")}Add webhook</button></div></form></section>`;
}

/** Shown after adding a webhook and after rotating its key. */
export function keyCard(title: string, { key, webhookId }: Pick<AddedWebhook, "key" | "webhookId">): Html {
  return html`<section class="card"><h1>${title}</h1>
<p>This is its key. Copy it now: it is shown this once only.</p>
${copyable("new-key", key, "the key")}
<h2>How your server knows us</h2>
<p>Each request brings the key as <code>X-API-Key</code>: refuse what doesn't match. Better still, check <code>webhook-signature</code>: it is made with this key after the <a href="https://www.standardwebhooks.com/" rel="noreferrer noopener">Standard Webhooks</a> rules, for which there are libraries. Answer with any 2xx status within 15 seconds.</p>
<p><a class="button button-primary" href="${webhookPath(webhookId)}">Try it out</a></p></section>`;
}
