// One delivery of a webhook: its body and its attempts.
import type { FastifyReply } from "fastify";
import type { Attempt, DeliveryWithLog } from "../../webhooks/queue/queue.ts";
import { time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { pretty } from "./webhook-page.ts";
import { clickOf, deliveryPath, outcome, stateBadge, webhookPath } from "./webhook-view.ts";

export function sendDeliveryPage(reply: FastifyReply, delivery: DeliveryWithLog): FastifyReply {
  const { name, at } = clickOf(delivery);
  const { webhookId, eventId, state, createdAt, dueAt, body, log } = delivery;
  return sendPage(reply, {
    title: "Delivery",
    nav: "Webhooks",
    styles: ["charts.css"],
    body: html`<div class="page-head"><div><p class="small"><a href="/portal/webhooks">Webhooks</a> / <a href="${webhookPath(webhookId)}">Deliveries</a></p>
<h1>Click on ${name} ${stateBadge(state)}</h1><p class="muted">${time(at)} · <code>webhook-id: ${eventId}</code></p></div>
<form method="post" action="${deliveryPath(delivery, "/resend")}"><button class="button">Send again</button></form></div>
<section class="card"><dl class="facts"><dt>Created</dt><dd>${time(createdAt)}</dd>
<dt>Next try</dt><dd>${dueAt && state === "pending" ? time(dueAt) : "None"}</dd></dl></section>
<section class="card"><h2>Tries</h2>${log.length === 0 ? html`<p class="muted">Not tried yet.</p>` : html`<ol class="plain stack">${[...log].reverse().map(attempt)}</ol>`}</section>
<section class="card"><h2>Body</h2><pre tabindex="0" aria-label="Body"><code>${pretty(body)}</code></pre></section>`,
  });
}

function attempt(one: Attempt): Html {
  return html`<li class="stack"><p>${time(one.at)} · ${outcome(one)}</p>
${one.answer && html`<pre tabindex="0" aria-label="Answer"><code>${one.status === null ? "" : `Status ${one.status}\n\n`}${pretty(one.answer)}</code></pre>`}
${one.nextTryAt && html`<p class="muted small">Next try ${time(one.nextTryAt)}</p>`}</li>`;
}
