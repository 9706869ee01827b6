// API keys under /portal/keys: list with last use, issue, deactivate.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { deactivateKey, issueKey } from "../../commands/account/keys.ts";
import { TIER_LIMITS } from "../../events/vocabulary.ts";
import type { KeyDocument } from "../../projections/definitions/keys.ts";
import { lastUseOf, listKeys } from "../../queries/accounts.ts";
import { isClientError } from "../../runtime/refused.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { confirmed, copyable, field, time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { portalContext, redirectTo } from "../shell/visit.ts";

const LABEL_MAX = 100;
/** Bounds the page: an account may have a thousand deactivated keys. */
const DEACTIVATED_SHOWN = 100;
const IssueForm = z.object({ label: z.string().max(LABEL_MAX).default("") });
const KeyParams = z.object({ keyId: z.uuid() });

export function keysPages(app: Api, deps: PortalDeps): void {
  app.get("/keys", { preHandler: requireSession }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const all = (await listKeys(deps, accountId)).reverse();
    const active = all.filter(({ status }) => status === "active").length;
    const keys = [...lastDeactivated(all, DEACTIVATED_SHOWN)];
    const limit = TIER_LIMITS[tier].activeKeys;
    const uses = new Map(
      await Promise.all(keys.map(async ({ _id }) => [_id, await lastUseOf(deps, _id)] as const)),
    );
    return sendPage(reply, {
      title: "API keys",
      nav: "API keys",
      body: html`<div class="page-head"><div><h1>API keys</h1>
<p class="muted">${active} of ${limit} active keys. Programs send a key as <code>X-API-Key</code>; <a href="/docs">see the documentation</a>.</p></div></div>
${issueCard(active < limit, tier)}
${keys.length === 0 ? noKeys : keyTable(keys, uses)}
${all.length > keys.length && html`<p class="muted small">Of the deactivated keys, the last ${DEACTIVATED_SHOWN}.</p>`}`,
    });
  });

  const issue = { preHandler: requireSession, schema: { body: IssueForm } };
  app.post("/keys", issue, async (request, reply) => {
    const { accountId } = signedIn(request);
    try {
      const { label } = request.body;
      const issued = await issueKey(deps, portalContext(request), accountId, { label });
      await deps.whenReadable(issued.position);
      return sendPage(reply, {
        title: "Your new API key",
        nav: "API keys",
        body: newKey(issued, deps.baseUrl),
      });
    } catch (error) {
      if (!isClientError(error)) throw error;
      return redirectTo(reply, "/portal/keys", { kind: "failed", text: error.message });
    }
  });

  const one = { preHandler: requireSession, schema: { params: KeyParams } };
  app.post("/keys/:keyId/deactivate", one, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { position } = await deactivateKey(deps, portalContext(request), accountId, request.params.keyId);
    await deps.whenReadable(position);
    return redirectTo(reply, "/portal/keys", { kind: "done", text: "The key is deactivated." });
  });
}

/** All active keys and the first `most` deactivated ones, in the order of `keys`. */
function* lastDeactivated(keys: readonly KeyDocument[], most: number): Generator<KeyDocument> {
  let left = most;
  for (const key of keys) if (key.status === "active" || left-- > 0) yield key;
}

function issueCard(isRoom: boolean, tier: string): Html {
  if (!isRoom)
    return html`<section class="card"><h2>New key</h2><p class="muted">All keys of your plan are in use: deactivate one first${
      tier === "free" ? html`, or <a href="/portal/plan">look at the Developer plan</a>` : ""
    }.</p></section>`;
  return html`<section class="card"><h2>New key</h2>
<form method="post" class="form-row">
${field({ label: "Label", name: "label", required: true, maxlength: LABEL_MAX, placeholder: "Where you will use it, such as “Website”", autocomplete: "off" })}
<button class="button button-primary">${icon("plus")}Issue key</button></form></section>`;
}

function newKey({ key, label }: { key: string; label: string }, baseUrl: string): Html {
  const example = `curl ${baseUrl}/api/v1/shorten -H "X-API-Key: ${key}" -H "Content-Type: application/json" -d '{"url":"https://example.com/"}'`;
  return html`<section class="card"><h1>Your new API key</h1>
<p>${label && html`Its label is <strong>${label}</strong>. `}Copy the key now: it is shown this once only, as we keep no copy.</p>
${copyable("new-key", key, "the key")}
<h2>Try it</h2>${copyable("try-it", example, "the command")}
<p><a class="button" href="/portal/keys">Go to your keys</a></p></section>`;
}

const noKeys = html`<section class="card empty">${icon("key")}<h2>No keys yet</h2>
<p>With a key, your programs create links and read their numbers. Give it a label that says where it is used, and it appears here with its last use.</p></section>`;

type Uses = ReadonlyMap<string, string | undefined>;

function keyTable(keys: readonly KeyDocument[], uses: Uses): Html {
  return html`<section class="card"><h2>Your keys</h2><table class="table">
<thead><tr><th scope="col">Label</th><th scope="col">Key</th><th scope="col">State</th><th scope="col">Issued</th><th scope="col">Last used</th><th scope="col" class="end"><span class="visually-hidden">Actions</span></th></tr></thead>
<tbody>${keys.map((key) => keyRow(key, uses.get(key._id)))}</tbody></table></section>`;
}

function keyRow({ _id, label, hint, status, issuedAt }: KeyDocument, used: string | undefined): Html {
  const isActive = status === "active";
  return html`<tr><td><strong>${label || `Key …${hint}`}</strong></td>
<td data-label="Key"><code>…${hint}</code></td>
<td data-label="State"><span class="badge ${isActive ? "badge-good" : ""}">${isActive ? "Active" : "Deactivated"}</span></td>
<td data-label="Issued">${time(issuedAt)}</td>
<td data-label="Last used">${used ? time(used) : html`<span class="muted">Never</span>`}</td>
<td class="end">${isActive && deactivation(_id, label || `…${hint}`)}</td></tr>`;
}

function deactivation(keyId: string, name: string): Html {
  return confirmed(
    "Deactivate",
    html`<p>Programs that use <strong>${name}</strong> are refused at once. This can't be undone.</p>`,
    html`<form method="post" action="/portal/keys/${keyId}/deactivate"><button class="button button-danger">Deactivate key</button></form>`,
  );
}
