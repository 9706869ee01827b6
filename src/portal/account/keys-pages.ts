// API keys under /portal/keys: list with last use, issue, rotate, deactivate.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { countTry } from "../../api/limits/rate-limit.ts";
import { deactivateKey, issueKey, rotateKey } from "../../commands/account/keys.ts";
import { KEY_SCOPES, type KeyScope, STREAM_LIMITS } from "../../events/vocabulary.ts";
import type { KeyDocument } from "../../projections/definitions/keys.ts";
import { acceptedEarlier, keyStatus, lastUseOf, listKeys } from "../../queries/accounts.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { field, hiddenFields, ticked } from "../shell/form.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import {
  type Columns,
  card,
  confirmed,
  confirmedPost,
  copyable,
  emptyCard,
  formCard,
  pageHead,
  table,
  time,
} from "../shell/parts.ts";
import { errorOf, noticeOf, type RefusedForm, typedText } from "../shell/refused-form.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";

const PATH = "/portal/keys";
const LABEL_MAX = 100;
/** Bounds the page: an account may have a thousand deactivated keys. */
const DEACTIVATED_SHOWN = 100;
const NETWORKS_MAX = 1_000;
const DAY_MS = 86_400_000;
/** In days from now; "" for a key that never expires. */
const LIFETIMES = [
  ["", "Never"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
] as const;
const SCOPE_NAMES: Readonly<Record<KeyScope, string>> = {
  "links:read": "Read links",
  "links:write": "Make and change links",
  "analytics:read": "Read analytics",
  "analytics:share": "Make and end shared pages",
  "events:read": "Read the event feed",
};
/** `once`: the id of the key that the form issues, so that sending it again issues no second one. */
const IssueForm = z.object({
  label: z.string().max(LABEL_MAX).default(""),
  once: z.uuid().optional(),
  scopes: ticked,
  lifetime: z.enum(LIFETIMES.map(([days]) => days)).default(""),
  networks: z.string().max(NETWORKS_MAX).default(""),
});
const KeyParams = z.object({ keyId: z.uuid() });
/** In hours: how long programs may use the texts before. */
const OVERLAPS = [
  ["24", "for 24 hours"],
  ["1", "for an hour"],
  ["0", "no longer: the key has leaked"],
] as const;
/** `hint`: of the text that is replaced, so that sending the form again replaces no second one. */
const RotateForm = z.object({
  hint: z.string().max(10).optional(),
  overlap: z.enum(OVERLAPS.map(([hours]) => hours)).default("24"),
});

export function keysPages(app: Api, deps: PortalDeps): void {
  const show = async (request: FastifyRequest, reply: FastifyReply, refused?: RefusedForm) => {
    const { accountId, tier } = signedIn(request);
    const now = deps.clock();
    const all = (await listKeys(deps, accountId)).reverse();
    const active = all.filter((key) => keyStatus(key, now) === "active").length;
    let left = DEACTIVATED_SHOWN;
    const keys = all.filter((key) => keyStatus(key, now) === "active" || left-- > 0);
    const limit = deps.limits[tier].activeKeys;
    const uses = new Map(
      await Promise.all(keys.map(async ({ _id }) => [_id, await lastUseOf(deps, _id)] as const)),
    );
    return sendPage(reply, {
      status: refused?.status,
      title: "API keys",
      nav: "API keys",

      notice: refused && noticeOf(refused, "networks", "scopes", "expires_at"),
      body: html`${pageHead("API keys", {
        lead: html`${active} of ${limit} active keys. Programs send a key as <code>X-API-Key</code>; <a href="/docs">see the documentation</a>.`,
      })}
${issueCard(active >= limit, tier, deps.newId(), refused)}
${keys.length === 0 ? noKeys : keyTable(keys, uses, now)}
${all.length > keys.length && html`<p class="muted small">Of the keys that are over, the last ${DEACTIVATED_SHOWN}.</p>`}`,
    });
  };
  app.get("/keys", { preHandler: requireSession }, (request, reply) => show(request, reply));

  const sendKey = (reply: FastifyReply, issued: NewKey) =>
    sendPage(reply, { title: "Your new API key", nav: "API keys", body: newKey(issued, deps.baseUrl) });

  formRoute(app, deps, "/keys", {
    schema: { body: IssueForm },
    run: async ({ reply, context, session: { accountId }, body: { once, lifetime, ...terms } }) => {
      const expiresAt =
        lifetime === "" ? undefined : new Date(deps.clock().getTime() + Number(lifetime) * DAY_MS);
      const networks = terms.networks.split(/[\s,]+/).filter((text) => text !== "");
      const request = { label: terms.label, scopes: terms.scopes, keyId: once, expiresAt, networks };
      const issued = await issueKey(deps, context, accountId, request);
      return { position: issued.position, to: () => sendKey(reply, issued) };
    },
    path: PATH,
    again: (refused, request, reply) => show(request, reply, refused),
  });

  formRoute(app, deps, "/keys/:keyId/rotate", {
    schema: { params: KeyParams, body: RotateForm },
    run: async ({ reply, context, session: { accountId }, params: { keyId }, body: { hint, overlap } }) => {
      const terms = { ofHint: hint, overlapHours: Number(overlap) };
      const rotated = await rotateKey(deps, context, accountId, keyId, terms);
      return { position: rotated.position, to: () => sendKey(reply, rotated) };
    },
    path: PATH,
    again: "back",
  });

  formRoute(app, deps, "/keys/:keyId/deactivate", {
    schema: { params: KeyParams },
    // Keys can be deactivated at any time (interface, part 5): as often as an account can have keys.
    count: ({ accountId }) => countTry(deps, `key-deactivations ${accountId}`, STREAM_LIMITS.keysIssued),
    run: async ({ context, session: { accountId }, params: { keyId } }) => {
      const { position } = await deactivateKey(deps, context, accountId, keyId);
      return { position, to: PATH, notice: "The key is deactivated." };
    },
    path: PATH,
  });
}

function issueCard(isFull: boolean, tier: string, once: string, refused: RefusedForm | undefined): Html {
  const plan = tier === "free" && html`, or <a href="/portal/plan">look at the Developer plan</a>`;
  if (isFull)
    return card("New key", "", {
      lead: html`All keys of your plan are in use: deactivate one first${plan}.`,
    });
  const typed = refused?.typed ?? {};
  const networks = typedText(typed, "networks");
  return formCard("New key", {
    action: PATH,
    buttonKind: "primary",
    button: html`${icon("plus")}Issue key`,
    fields: html`${hiddenFields({ once })}${field({
      label: "Label",
      name: "label",
      value: typedText(typed, "label"),
      required: true,
      maxlength: LABEL_MAX,
      autocomplete: "off",
      placeholder: "Where you will use it, such as “Website”",
    })}
<details class="more-options" ${refused && html`open`}><summary>Scopes, expiry and addresses</summary>
<div class="stack">
${field({
  label: "It may",
  name: "scopes",
  options: KEY_SCOPES.map((scope) => [scope, html`${SCOPE_NAMES[scope]} <code>${scope}</code>`]),
  boxes: true,
  value: ticked.catch(undefined).parse(typed.scopes) ?? KEY_SCOPES,
  error: errorOf(refused, "scopes"),
})}
${field({ label: "It expires", name: "lifetime", value: typedText(typed, "lifetime"), options: LIFETIMES, error: errorOf(refused, "expires_at") })}
${field({
  label: "Allowed addresses",
  name: "networks",
  value: networks,
  rows: 2,
  maxlength: NETWORKS_MAX,
  isExact: true,
  error: errorOf(refused, "networks"),
  hint: "Addresses or networks such as 203.0.113.0/24 or 2001:db8::/32. Empty: any.",
})}</div></details>`,
  });
}

type NewKey = { key: string; label?: string; earlier?: readonly { hint: string; until: string }[] };

function newKey({ key, label, earlier }: NewKey, baseUrl: string): Html {
  const example = `curl ${baseUrl}/api/v1/shorten -H "X-API-Key: ${key}" -H "Content-Type: application/json" -d '{"url":"https://example.com/"}'`;
  return html`<section class="card"><h1>Your new API key</h1>
<p>${label && html`Its label is <strong>${label}</strong>. `}Copy the key now: it is shown this once only, as we keep no copy.</p>
${earlier?.length === 0 && html`<p>The keys before are no longer accepted.</p>`}
${earlier?.map(({ hint, until }) => html`<p>The key before, <code>…${hint}</code>, is accepted until ${time(until)}.</p>`)}
${copyable("new-key", key, "the key")}
<h2>Try it</h2>${copyable("try-it", example, "the command")}
<p><a class="button" href="/docs/guide-first-link" data-docs-key="${key}">Fill it in at the documentation</a> <a class="button" href="/portal/keys">Go to your keys</a></p></section>`;
}

const noKeys = emptyCard(
  "key",
  "No keys yet",
  "With a key, your programs create links and read their numbers. Give it a label that says where it is used, and it appears here with its last use.",
);

function keyTable(
  keys: readonly KeyDocument[],
  uses: ReadonlyMap<string, string | undefined>,
  now: Date,
): Html {
  const title = "Your keys";
  const lastUse = (at: string | undefined) => (at ? time(at) : html`<span class="muted">Never</span>`);
  const columns: Columns<KeyDocument> = {
    Label: (key) => html`<div><strong>${nameOf(key)}</strong>${bounds(key)}</div>`,
    Key: ({ hint }) => html`<code class="nowrap">…${hint}</code>`,
    State: (key) => state(key, now),
    Issued: ({ issuedAt }) => time(issuedAt),
    "Last used": ({ _id }) => lastUse(uses.get(_id)),
    Actions: { isHidden: true, end: true, cell: (key) => actions(key, now) },
  };
  return card(title, table(title, columns, keys));
}

/** What it may do and from where, of a key that may not do all everywhere. */
function bounds({ scopes, networks }: KeyDocument): HtmlValue {
  const parts = [...(scopes ?? []), ...(networks?.map((network) => `from ${network}`) ?? [])];
  return parts.length > 0 && html`<br><span class="muted small">${parts.join(", ")}</span>`;
}

function state(key: KeyDocument, now: Date): Html {
  const { expiresAt } = key;
  const status = keyStatus(key, now);
  if (status === "deactivated") return html`<span class="badge">Deactivated</span>`;
  if (status === "expired") return html`<span class="badge">Expired</span>`;
  return html`<div><span class="badge badge-good">Active</span>${
    expiresAt !== undefined && html`<br><span class="muted small">until ${time(expiresAt)}</span>`
  }${acceptedEarlier(key, now).map(
    ({ hint, until }) =>
      html`<br><span class="muted small"><code>…${hint}</code>, too, until ${time(until)}</span>`,
  )}</div>`;
}

function actions(key: KeyDocument, now: Date): HtmlValue {
  if (key.status !== "active") return false;
  const name = html`<strong>${nameOf(key)}</strong>`;
  const path = `${PATH}/${key._id}`;
  const earlier = acceptedEarlier(key, now);
  const ends = earlier.map(
    ({ hint, until }) =>
      html` The key <code>…${hint}</code>, which it replaced, ends ${time(until)} at the latest.`,
  );
  const rotation = confirmed(
    "Rotate",
    html`<p>You get a new key with the same label and bounds.${ends}</p>`,
    html`<form method="post" action="${path}/rotate">${hiddenFields({ hint: key.hint })}${field({
      label: earlier.length > 0 ? "The keys before it work" : "The present key works",
      name: "overlap",
      id: `overlap-${key._id}`,
      options: OVERLAPS,
    })}<button class="button button-danger">Rotate key</button></form>`,
  );
  const deactivation = confirmedPost(
    "Deactivate",
    html`Programs that use ${name} are refused at once. This can't be undone.`,
    `${path}/deactivate`,
    "Deactivate key",
  );
  return html`<div class="actions">${keyStatus(key, now) === "active" && rotation}${deactivation}</div>`;
}

/** Where a person has several, as on the page of the plan. */
export function nameOf({ label, hint }: Pick<KeyDocument, "label" | "hint">): string {
  return label || `Key …${hint}`;
}
