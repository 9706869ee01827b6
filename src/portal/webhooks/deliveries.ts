// The delivery log of a webhook: the list on its page, a page of one delivery, and sending again.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { WEBHOOK_EVENTS, type WebhookEventName } from "../../events/webhook-selection.ts";
import {
  type DeliveryPage,
  recoverSince,
  resendDelivery,
  showDelivery,
} from "../../webhooks/owner-tools/deliveries.ts";
import {
  type Attempt,
  DELIVERY_STATES,
  type Delivery,
  type DeliveryState,
  type DeliveryWithBody,
  type DeliveryWithLog,
  deliveryId,
} from "../../webhooks/queue/queue.ts";
import { shortName } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { address } from "../shell/address.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { badge, type Columns, choices, facts, postButton, table, timeWithSeconds } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { signedIn } from "../shell/sessions.ts";
import { EVENT_NAMES, webhookPath } from "./webhooks-page.ts";

const REFRESH_MS = 5_000;

const STATES = {
  pending: { name: "Waiting", tone: "warn" },
  delivered: { name: "Delivered", tone: "good" },
  failed: { name: "Failed", tone: "bad" },
  cancelled: { name: "Cancelled", tone: "plain" },
} as const satisfies Record<DeliveryState, object>;

const Params = z.object({ webhookId: z.uuid(), eventId: z.string().max(200) });

export function deliveryPages(app: Api, deps: PortalDeps): void {
  const ofWebhook = { schema: { params: Params } };
  app.get("/webhooks/:webhookId/deliveries/:eventId", ofWebhook, async (request, reply) => {
    const { webhookId, eventId } = request.params;
    return sendDelivery(
      reply,
      await showDelivery(deps, deliveryId(webhookId, eventId), signedIn(request).accountId),
    );
  });

  formRoute(app, deps, "/webhooks/:webhookId/deliveries/:eventId/resend", {
    schema: { params: Params },
    async run({ session: { accountId }, params: { webhookId, eventId } }) {
      const sent = await resendDelivery(deps, deliveryId(webhookId, eventId), accountId);
      return { to: deliveryPath(sent), notice: "The delivery is about to be sent again." };
    },
    path: (request) => deliveryPath(request.params as z.infer<typeof Params>),
  });

  formRoute(app, deps, "/webhooks/:webhookId/recover", {
    schema: { params: Params.pick({ webhookId: true }) },
    async run({ session: { accountId }, params: { webhookId } }) {
      const sent = await recoverSince(deps, webhookId, new Date(0), accountId);
      return { notice: `${sent === 1 ? "1 delivery is" : `${sent} deliveries are`} about to be sent again.` };
    },
    path: (request) => webhookPath((request.params as z.infer<typeof Params>).webhookId),
  });
}

/** The path holds webhook id and event id, which together are the delivery's id. */
function deliveryPath({ webhookId, eventId }: Pick<Delivery, "webhookId" | "eventId">, below = ""): string {
  return webhookPath(webhookId, `/deliveries/${encodeURIComponent(eventId)}${below}`);
}

type DeliveryChoice = {
  state?: DeliveryState | undefined;
  event?: WebhookEventName | undefined;
  cursor?: string | undefined;
};

/** `events`: what the webhook is told of. `data-live`: where live.js loads the newest deliveries again, as the address of a test has no page. */
export function logCard(
  path: string,
  { deliveries, next_cursor: next }: DeliveryPage,
  { state, event, cursor }: DeliveryChoice,
  events: readonly WebhookEventName[],
): Html {
  const choice = (name: string, wanted: DeliveryChoice) =>
    [name, address(path, wanted), wanted.state === state && wanted.event === event] as const;
  // Also those that it was told of before its settings were changed.
  const sent = new Set([...events, ...deliveries.map(({ event }) => event as WebhookEventName)]);
  const byEvent =
    (sent.size > 1 || event !== undefined) &&
    html`<div class="actions">${choices("Events shown", [
      choice("All events", { state }),
      ...WEBHOOK_EVENTS.filter((name) => sent.has(name) || name === event).map((name) =>
        choice(EVENT_NAMES[name], { state, event: name }),
      ),
    ])}</div>`;
  const byState = choices("Deliveries shown", [
    choice("All", { event }),
    ...DELIVERY_STATES.map((state) => choice(STATES[state].name, { state, event })),
  ]);
  const older =
    next && html`<a class="button" href="${address(path, { state, event, cursor: next })}">Older</a>`;
  const isRecoverable = state === "failed" && event === undefined && deliveries.length > 0;
  const recover =
    isRecoverable && postButton(`${path}/recover`, "Send all that failed again", { kind: "primary" });
  const none =
    state || event
      ? `None${event ? ` of ${EVENT_NAMES[event].toLowerCase()} links` : ""}${state ? ` is ${STATES[state].name.toLowerCase()}` : ""}.`
      : "None in the last 30 days. When something happens to a link that it is told of, its delivery appears here.";
  return html`<section class="card" id="deliveries" ${cursor === undefined && html`data-live="${address(path, { state, event })}" data-busy="${REFRESH_MS}"`}><div class="card-head"><h2>Deliveries</h2>
<noscript><p class="muted small">Reload the page for newer ones.</p></noscript>
${byState}</div>
${byEvent}
${deliveries.length > 0 ? table("Deliveries, newest first", COLUMNS, deliveries) : html`<p class="muted">${none}</p>`}
${(older || recover) && html`<div class="actions">${older}${recover}</div>`}</section>`;
}

const COLUMNS: Columns<DeliveryWithBody> = {
  Link: (delivery) => html`<a class="clip" href="${deliveryPath(delivery)}">${subjectOf(delivery).name}</a>`,
  Event: ({ event }) => EVENT_NAMES[event as WebhookEventName] ?? event,
  When: (delivery) => timeWithSeconds(subjectOf(delivery).at),
  State: ({ state }) => stateBadge(state),
  "Last try": ({ lastAttempt }) => outcome(lastAttempt),
  "Next try": nextTry,
};

function sendDelivery(reply: FastifyReply, delivery: DeliveryWithLog): FastifyReply {
  const { name, at } = subjectOf(delivery);
  const { webhookId, eventId, event, state, createdAt, body, log } = delivery;
  const what = EVENT_NAMES[event as WebhookEventName] ?? event;
  const tries = html`<ol class="stack">${log.toReversed().map(attempt)}</ol>`;
  const about = facts({ Created: timeWithSeconds(createdAt), "Next try": nextTry(delivery) });
  return sendPage(reply, {
    title: "Delivery",
    nav: "Webhooks",
    heading: html`${what}: ${name} ${stateBadge(state)}`,
    above: html`<a href="/portal/webhooks">Webhooks</a> / <a href="${webhookPath(webhookId)}">Deliveries</a>`,
    lead: html`${timeWithSeconds(at)} · <code>webhook-id: ${eventId}</code>`,
    actions: postButton(deliveryPath(delivery, "/resend"), "Send again"),
    cards: [
      html`<section class="card">${about}</section>`,
      log.length === 0 ? { title: "Tries", lead: "Not tried yet." } : { title: "Tries", body: tries },
      { title: "Body", body: preview("Body", pretty(body)) },
    ],
  });
}

/** The short link that it is about and when it happened, which tell the deliveries apart. */
function subjectOf({ event, body, createdAt }: DeliveryWithBody): { name: string; at: string } {
  try {
    const { timestamp, data } = JSON.parse(body);
    return { name: shortName({ shortUrl: data.short_url }), at: timestamp };
  } catch {
    return { name: event, at: createdAt };
  }
}

function stateBadge(state: DeliveryState): Html {
  return badge(STATES[state].tone, STATES[state].name);
}

function nextTry({ dueAt, state }: Delivery): Html {
  return dueAt && state === "pending" ? timeWithSeconds(dueAt) : html`<span class="muted">None</span>`;
}

/** The status code of an attempt, or its error. */
function outcome(attempt: Delivery["lastAttempt"]): Html {
  if (!attempt) return html`<span class="muted">Not tried yet</span>`;
  const { status, error, durationMs } = attempt;
  return html`<span>${error ? error.message : `Answered ${status}`} <span class="muted">in ${durationMs} ms</span></span>`;
}

function attempt(tried: Attempt): Html {
  const status = tried.status === null ? "" : `Status ${tried.status}\n\n`;
  return html`<li class="stack"><p>${timeWithSeconds(tried.at)} · ${outcome(tried)}</p>
${tried.answer && preview("Answer", `${status}${pretty(tried.answer)}`)}
${tried.nextTryAt && html`<p class="muted small">Next try ${timeWithSeconds(tried.nextTryAt)}</p>`}</li>`;
}

/** What was sent or answered; can be scrolled with a keyboard. */
export function preview(label: string, text: string): Html {
  return html`<pre tabindex="0" aria-label="${label}"><code>${text}</code></pre>`;
}

/** Indents JSON; other text is unchanged. */
export function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
