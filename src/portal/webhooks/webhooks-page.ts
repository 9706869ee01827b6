// GET and POST /portal/webhooks: lists and adds webhooks; shows a new webhook's key once.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { type AddedWebhook, addWebhook } from "../../commands/webhooks/webhooks.ts";
import { commaSeparated } from "../../config/formats.ts";
import { type CreatedVia, hasDeveloperFeatures, WEBHOOK_DEFAULT_KINDS } from "../../events/vocabulary.ts";
import { selectionOf, type WebhookEventName, type WebhookSelection } from "../../events/webhook-selection.ts";
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import { listWebhooks } from "../../queries/webhooks.ts";
import { TRIES_IN_WORDS } from "../../webhooks/delivery/schedule.ts";
import { KIND_NAMES } from "../analytics/value-names.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { field, ticked } from "../shell/form.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { type Columns, card, copyable, formCard, pageHead, table } from "../shell/parts.ts";
import { errorOf, noticeOf, type RefusedForm } from "../shell/refused-form.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";

/** Typed with commas; a refused form holds them as a list. */
const listed = z
  .preprocess(
    (typed) => (typeof typed === "string" ? commaSeparated(typed) : typed),
    z.array(z.string()).optional(),
  )
  .catch(undefined);

/** What isn't in the form stays as it is; the use case says what is wrong with the rest. */
export const WebhookForm = z.object({
  url: z.string().catch(""),
  label: z.string().catch(""),
  events: ticked,
  kinds: ticked,
  via: ticked,
  domains: listed,
  tags: listed,
});
/** Whose refusals stand beside them. */
export const WEBHOOK_FIELDS = ["url", "events", "kinds", "via", "domains", "tags"];

export const EVENT_NAMES: Readonly<Record<WebhookEventName, string>> = {
  "link.clicked": "Clicked",
  "link.created": "Created",
  "link.updated": "Changed",
  "link.deleted": "Deleted",
  "link.expired": "Expired",
  "link.limit_reached": "Limit reached",
};

const VIA_NAMES: Readonly<Record<CreatedVia, string>> = { api: "through the API", web: "in the portal" };

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
  const webhooks = await Promise.all(
    (await listWebhooks(deps, accountId)).map(async (webhook) => ({
      ...webhook,
      recent: await recentFailures(deps, webhook._id),
    })),
  );
  const mayAdd = hasDeveloperFeatures(tier);
  const limit = deps.limits.webhooks;
  const isFull = webhooks.length >= limit;
  const used = mayAdd ? `${webhooks.length} of ${limit} webhooks. ` : "";
  return sendPage(reply, {
    title: "Webhooks",
    nav: "Webhooks",
    status: refused?.status,
    notice: refused && noticeOf(refused, ...(mayAdd && !isFull ? WEBHOOK_FIELDS : [])),
    body: html`${pageHead("Webhooks", { lead: `${used}Your own server is told of each click on a link, a moment after it happened, and of what becomes of links, if you choose so: of links made through the API, and of those made in the portal where a webhook says so.` })}
${webhooks.length > 0 && card("Your webhooks", table("Webhooks, oldest first", COLUMNS, webhooks))}
${!mayAdd ? withDeveloper : isFull ? full : addCard(refused)}`,
  });
}

const withDeveloper = html`<section class="card empty">${icon("send")}<h2>Webhooks come with the Developer plan</h2>
<p>Each click is sent to an address of yours as signed JSON, sent ${TRIES_IN_WORDS} until it gets through, and kept in a log for 30 days.</p>
<p><a class="button button-primary" href="/portal/plan">Look at the Developer plan</a></p></section>`;

const full = html`<section class="card"><p class="muted">That is as many as an account can have: remove one to add another.</p></section>`;

const COLUMNS: Columns<WebhookDocument & { recent: RecentTries }> = {
  Webhook: (webhook) =>
    html`<a href="${webhookPath(webhook._id)}"><strong>${webhookName(webhook)}</strong></a>`,
  URL: ({ url }) => html`<span class="break">${url}</span>`,
  "Told of": ({ events }) => events.map((event) => EVENT_NAMES[event]).join(", "),
  State: (webhook) => html`${webhookBadge(webhook)} ${failingBadge(webhook.recent)}`,
  Key: ({ keyHint }) => html`<code>…${keyHint}</code>`,
};

function addCard(refused: RefusedForm | undefined): Html {
  return formCard("Add a webhook", {
    action: LIST,
    button: html`${icon("plus")}Add webhook`,
    buttonKind: "primary",
    fields: settingsFields({ url: "", label: "", ...selectionOf({ kinds: WEBHOOK_DEFAULT_KINDS }) }, refused),
  });
}

type Settings = { url: string; label: string } & WebhookSelection;

/** Of a new webhook or of one that is changed. `refused`: as typed, and why it was refused. */
export function settingsFields(settings: Settings, refused: RefusedForm | undefined): Html {
  const typed = refused ? WebhookForm.partial().catch({}).parse(refused.typed) : {};
  const { url, label, events, kinds, via, domains, tags } = { ...settings, ...defined(typed) };
  const boxes = <N extends string>(
    label: string,
    name: string,
    names: Readonly<Record<N, string>>,
    chosen: readonly string[],
  ) =>
    field({
      label,
      name,
      options: Object.entries<string>(names),
      boxes: true,
      value: chosen,
      error: errorOf(refused, name),
    });
  const texts = (label: string, name: string, chosen: readonly string[]) =>
    field({
      ...{
        label,
        name,
        value: chosen.join(", "),
        autocomplete: "off",
        isExact: true,
        error: errorOf(refused, name),
      },
      hint: "Separated by commas; empty for all links.",
    });
  return html`${field({
    label: "URL",
    name: "url",
    type: "url",
    value: url,
    error: errorOf(refused, "url"),
    required: true,
    maxlength: 2048,
    autocomplete: "off",
    placeholder: "https://example.com/hooks/linkledger",
    hint: "We send it a POST for each event that is chosen below.",
  })}
${field({
  label: "Label",
  name: "label",
  value: label,
  maxlength: 100,
  autocomplete: "off",
  placeholder: "To tell webhooks apart",
})}
${boxes("Sent when a link is", "events", EVENT_NAMES, events)}
${boxes("Clicks that count", "kinds", KIND_NAMES, kinds)}
${boxes("Links that were made", "via", VIA_NAMES, via)}
${texts("Only on these domains", "domains", domains)}
${texts("Only with one of these tags", "tags", tags)}`;
}

function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** Of the last deliveries that were tried. */
export type RecentTries = { tried: number; failed: number };

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
  return html`<span class="badge badge-bad">${failed} of the last ${tried} failed</span>`;
}

/** After a webhook was added, and after its key was rotated. */
export function sendKey(
  reply: FastifyReply,
  title: string,
  { key, publicKey, webhookId }: Pick<AddedWebhook, "key" | "publicKey" | "webhookId">,
): FastifyReply {
  const body = html`<section class="card"><h1>${title}</h1>
<p>This is its key. Copy it now: it is shown this once only.</p>
${copyable("new-key", key, "the key")}
<h2>How your server knows us</h2>
<p>Each request brings the key as <code>X-API-Key</code>: refuse what doesn't match. Better still, check <code>webhook-signature</code>: it is made with this key after the <a href="https://www.standardwebhooks.com/" rel="noreferrer noopener">Standard Webhooks</a> rules, for which there are libraries. Who should verify deliveries without knowing the key gets the public key, which is shown below the webhook's settings, too: the signatures that begin with <code>v1a</code> are checked by it.</p>
${copyable("new-public-key", publicKey, "the public key")}
<p>Answer with any 2xx status within 15 seconds.</p>
<p><a class="button button-primary" href="${webhookPath(webhookId)}">Try it out</a></p></section>`;
  return sendPage(reply, { title, nav: "Webhooks", body });
}
