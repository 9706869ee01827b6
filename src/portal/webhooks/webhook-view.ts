// Formatting of webhooks and deliveries that all pages share.
import { CLICK_KINDS, type ClickKind } from "../../events/vocabulary.ts";
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import type { Delivery, DeliveryState, DeliveryWithBody } from "../../webhooks/queue/queue.ts";
import { KIND_NAMES } from "../analytics/series-figure.ts";
import { shortName } from "../links/link-view.ts";
import { field, time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";

export const STATE_NAMES: Readonly<Record<DeliveryState, string>> = {
  pending: "Waiting",
  delivered: "Delivered",
  failed: "Failed",
  cancelled: "Cancelled",
};

const STATE_BADGES: Readonly<Record<DeliveryState, string>> = {
  pending: "badge-warn",
  delivered: "badge-good",
  failed: "badge-bad",
  cancelled: "",
};

export function webhookPath(webhookId: string, below = ""): string {
  return `/portal/webhooks/${webhookId}${below}`;
}

/** The path holds webhook id and event id, which together are the delivery's id. */
export function deliveryPath(
  { webhookId, eventId }: Pick<Delivery, "webhookId" | "eventId">,
  below = "",
): string {
  return webhookPath(webhookId, `/deliveries/${encodeURIComponent(eventId)}${below}`);
}

export function webhookName({ label, url }: Pick<WebhookDocument, "label" | "url">): string {
  return label || new URL(url).host;
}

export function webhookBadge({ status }: Pick<WebhookDocument, "status">): Html {
  return status === "active"
    ? html`<span class="badge badge-good">Active</span>`
    : html`<span class="badge badge-warn">Paused</span>`;
}

export function stateBadge(state: DeliveryState): Html {
  return html`<span class="badge ${STATE_BADGES[state]}">${STATE_NAMES[state]}</span>`;
}

/** The last attempt's status code, or its error. */
export function outcome(attempt: Delivery["lastAttempt"]): Html {
  if (!attempt) return html`<span class="muted">Not tried yet</span>`;
  const { status, error, durationMs } = attempt;
  return html`<span>${error ? error.message : `Answered ${status}`} <span class="muted">in ${durationMs} ms</span></span>`;
}

/** URL, label and kinds; shared by the forms that add and change a webhook. */
export function settingsFields(given: {
  url?: string | undefined;
  label?: string | undefined;
  kinds: readonly ClickKind[];
  error?: string | undefined;
}): Html {
  return html`${field({
    ...{ label: "URL", name: "url", type: "url", value: given.url, required: true, maxlength: 2048 },
    ...{ placeholder: "https://example.com/hooks/linkledger", autocomplete: "off" },
    hint: "We send it a POST for each click on a link that was made through the API.",
    error: given.error,
  })}
${field({ label: "Label", name: "label", value: given.label, maxlength: 100, autocomplete: "off", placeholder: "To tell webhooks apart" })}
<fieldset class="field"><legend>Sent for</legend><div class="actions">${CLICK_KINDS.map(
    (kind) =>
      html`<label class="check"><input type="checkbox" name="kinds" value="${kind}" ${given.kinds.includes(kind) ? html`checked` : ""}>${KIND_NAMES[kind]}</label>`,
  )}</div></fieldset>`;
}

/** The short link that was clicked and when, which tell the deliveries apart. */
export function clickOf({ event, body, createdAt }: DeliveryWithBody): { name: string; at: string } {
  try {
    const { timestamp, data } = JSON.parse(body);
    return { name: shortName({ shortUrl: data.short_url }), at: timestamp };
  } catch {
    return { name: event, at: createdAt };
  }
}

export function deliveryTable(deliveries: readonly DeliveryWithBody[]): Html {
  return html`<table class="table"><thead><tr><th scope="col">Link</th><th scope="col">Clicked</th><th scope="col">State</th><th scope="col">Last try</th><th scope="col">Next try</th></tr></thead>
<tbody>${deliveries.map((delivery) => {
    const { name, at } = clickOf(delivery);
    return html`<tr><td><a class="clip" href="${deliveryPath(delivery)}">${name}</a></td>
<td data-label="Clicked">${time(at)}</td>
<td data-label="State">${stateBadge(delivery.state)}</td>
<td data-label="Last try">${outcome(delivery.lastAttempt)}</td>
<td data-label="Next try">${delivery.dueAt && delivery.state === "pending" ? time(delivery.dueAt) : html`<span class="muted">None</span>`}</td></tr>`;
  })}</tbody></table>`;
}
