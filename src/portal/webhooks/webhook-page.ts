// /portal/webhooks/{id}: one webhook with settings, test tool and delivery log.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { TIER_LIMITS } from "../../events/vocabulary.ts";
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import { showWebhook } from "../../queries/webhooks.ts";
import { type DeliveryPage, listDeliveries } from "../../webhooks/owner-tools/deliveries.ts";
import { type TestedWebhook, testWebhook } from "../../webhooks/owner-tools/test-webhook.ts";
import { DELIVERY_STATES, type DeliveryState } from "../../webhooks/queue/queue.ts";
import { countForAccount } from "../auth/throttle.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { address } from "../shell/address.ts";
import { confirmed, time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { noticeBox, sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import {
  deliveryTable,
  STATE_NAMES,
  settingsFields,
  webhookBadge,
  webhookName,
  webhookPath,
} from "./webhook-view.ts";
import type { RefusedSettings } from "./webhooks-page.ts";

const TESTS_AN_HOUR = 60;
const ON_A_PAGE = 25;
const REFRESH_MS = 5_000;
const ON_FREE =
  "Nothing is sent on the Free plan: webhooks are part of the Developer plan. You can pause this one, give it a new key, or remove it.";

export const WebhookParams = z.object({ webhookId: z.uuid() });
const Query = z.object({
  state: z.enum(DELIVERY_STATES).optional().catch(undefined),
  cursor: z.string().max(500).optional(),
});

/** `tested`: result of the test tool. `refused`: settings that were refused, and why. */
type State = {
  state?: DeliveryState | undefined;
  cursor?: string | undefined;
  tested?: TestedWebhook;
  refused?: RefusedSettings;
};

export function webhookPage(app: Api, deps: PortalDeps): void {
  const preHandler = requireSession;
  const schema = { params: WebhookParams, querystring: Query };
  app.get("/webhooks/:webhookId", { preHandler, schema }, (request, reply) =>
    sendWebhookPage(deps, request, reply, request.params.webhookId, request.query),
  );

  const test = { preHandler, schema: { params: WebhookParams } };
  app.post("/webhooks/:webhookId/test", test, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { webhookId } = request.params;
    await showWebhook(deps, webhookId, accountId);
    await countForAccount(deps, accountId, "webhook-test", TESTS_AN_HOUR);
    const tested = await testWebhook(deps, webhookId, accountId);
    return sendWebhookPage(deps, request, reply, webhookId, { tested });
  });
}

/** @throws not_found also for another account's webhook */
export async function sendWebhookPage(
  deps: PortalDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  webhookId: string,
  given: State,
): Promise<FastifyReply> {
  const { accountId, tier } = signedIn(request);
  const webhook = await showWebhook(deps, webhookId, accountId);
  const filter = { state: given.state, cursor: given.cursor, limit: ON_A_PAGE };
  const log = await listDeliveries(deps, webhookId, filter, accountId);
  return sendPage(reply, {
    title: webhookName(webhook),
    nav: "Webhooks",
    styles: ["charts.css"],
    scripts: ["console.js"],
    status: given.refused ? 400 : 200,
    body: html`${head(webhook)}
${!TIER_LIMITS[tier].developerFeatures && noticeBox({ kind: "info", text: ON_FREE })}
${webhook.status === "paused" && noticeBox({ kind: "failed", text: whyPaused(webhook) })}
${testCard(webhookId, given.tested)}
${logCard(webhookId, log, given)}
${settingsCard(webhook, deps.clock().toISOString(), given.refused)}`,
  });
}

function head(webhook: WebhookDocument): Html {
  const post = (below: string, name: string, style = "") =>
    html`<form method="post" action="${webhookPath(webhook._id, below)}"><button class="button ${style}">${name}</button></form>`;
  return html`<div class="page-head"><div><p class="small"><a href="/portal/webhooks">Webhooks</a></p>
<h1>${webhookName(webhook)} ${webhookBadge(webhook)}</h1><p class="muted break">${webhook.url}</p></div>
<div class="actions">${webhook.status === "paused" ? post("/resume", "Resume", "button-primary") : post("/pause", "Pause")}
${confirmed(
  "New key",
  html`<p>The key that ends in <code>${webhook.keyHint}</code> is replaced: <code>X-API-Key</code> carries the new one at once. Signatures are made with both for 24 hours.</p>`,
  post("/rotate", "Make a new key", "button-danger"),
)}
${confirmed(
  "Remove",
  html`<p>Nothing more is sent, what still waits is cancelled, and the key is destroyed. This can't be undone.</p>`,
  post("/remove", "Remove webhook", "button-danger"),
)}</div></div>`;
}

function whyPaused({ pausedBy, reason, cause, pausedAt }: WebhookDocument): string {
  const since = pausedAt ? ` since ${pausedAt.slice(0, 16).replace("T", " ")} UTC` : "";
  const why = reason ? `: ${reason}` : "";
  if (pausedBy === "operator")
    return `Paused by the operator of this service${since}${why}. Only they can resume it.`;
  if (cause === "key_missing")
    return `Paused${since}${why}, so nothing can be signed. Make a new key below: it then resumes by itself.`;
  if (pausedBy === "system")
    return `Paused${since}, as deliveries went on failing${why}. Mend the receiver, try it below, then resume.`;
  return `Paused${since}${why}. Nothing is sent until you resume it; clicks of the meantime are not made up for.`;
}

function testCard(webhookId: string, tested: TestedWebhook | undefined): Html {
  return html`<section class="card" id="test"><div class="card-head"><div><h2>Try it out</h2>
<p class="muted">Sends a signed sample of <code>link.clicked</code> now, and shows what your server answers. It does not appear among the deliveries below.</p></div>
<form method="post" action="${webhookPath(webhookId, "/test")}"><button class="button">${icon("send")}Send a test</button></form></div>
${tested && testResult(tested)}</section>`;
}

function testResult({ request, answer }: TestedWebhook): Html {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const verdict = answer.error
    ? noticeBox({ kind: "failed", text: `Not delivered: ${answer.error.message}` })
    : noticeBox({
        kind: "done",
        text: `Delivered: your server answered ${answer.status} in ${answer.durationMs} ms.`,
      });
  return html`${verdict}
<div class="grid"><div class="stack"><h3>Request</h3><pre tabindex="0" aria-label="Request"><code>${request.method} ${request.url}\n${headers.join("\n")}\n\n${pretty(request.body)}</code></pre></div>
<div class="stack"><h3>Answer</h3><pre tabindex="0" aria-label="Answer"><code>${answer.status === null ? "None" : `Status ${answer.status}`}\n\n${pretty(answer.answer)}</code></pre></div></div>`;
}

/** Indents JSON; other text is unchanged. */
export function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}

/** `data-live`: where console.js loads the newest deliveries again, as the address of a test has no page. */
function logCard(webhookId: string, log: DeliveryPage, { state, cursor }: State): Html {
  const path = webhookPath(webhookId);
  const choice = (name: string, wanted: DeliveryState | undefined) =>
    html`<a href="${address(path, { state: wanted })}" ${wanted === state ? html`aria-current="true"` : ""}>${name}</a>`;
  const older =
    log.next_cursor &&
    html`<a class="button" href="${address(path, { state, cursor: log.next_cursor })}">Older</a>`;
  const more = [older, state === "failed" && log.deliveries.length > 0 && recovery(webhookId)].filter(
    Boolean,
  );
  return html`<section class="card" id="deliveries" ${cursor === undefined ? html`data-live="${address(path, { state })}" data-busy="${REFRESH_MS}"` : ""}><div class="card-head"><h2>Deliveries</h2>
<noscript><p class="muted small">Reload the page for newer ones.</p></noscript>
<nav class="choices" aria-label="Deliveries shown">${choice("All", undefined)}${DELIVERY_STATES.map((one) => choice(STATE_NAMES[one], one))}</nav></div>
${log.deliveries.length > 0 ? deliveryTable(log.deliveries) : html`<p class="muted">${state ? `None is ${STATE_NAMES[state].toLowerCase()}.` : "None in the last 30 days. Follow a link that was made through the API, and its delivery appears here."}</p>`}
${more.length > 0 && html`<div class="actions">${more}</div>`}</section>`;
}

function recovery(webhookId: string): Html {
  return html`<form method="post" action="${webhookPath(webhookId, "/recover")}"><button class="button button-primary">Send all that failed again</button></form>`;
}

function settingsCard(webhook: WebhookDocument, now: string, refused: RefusedSettings | undefined): Html {
  const { _id, addedAt, previousKeyUntil } = webhook;
  const { url, label, kinds } = refused ?? webhook;
  return html`<section class="card" id="settings"><h2>Settings</h2>
<form method="post" action="${webhookPath(_id, "/settings")}" class="form">${settingsFields({ url, label, kinds, error: refused?.refused.message })}
<div><button class="button">Save</button></div></form>
<dl class="facts"><dt>Added</dt><dd>${time(addedAt)}</dd><dt>Key</dt><dd><code>whk_…${webhook.keyHint}</code></dd>
${previousKeyUntil !== null && previousKeyUntil > now && html`<dt>Key before</dt><dd>signs along until ${time(previousKeyUntil)}</dd>`}</dl></section>`;
}
