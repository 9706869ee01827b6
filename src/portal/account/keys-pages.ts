// API keys under /portal/keys: list with last use, issue, deactivate.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { countTry } from "../../api/limits/rate-limit.ts";
import { deactivateKey, issueKey } from "../../commands/account/keys.ts";
import { STREAM_LIMITS } from "../../events/vocabulary.ts";
import type { KeyDocument } from "../../projections/definitions/keys.ts";
import { lastUseOf, listKeys } from "../../queries/accounts.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { copyable, field, time } from "../shell/form.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import {
  type Column,
  card,
  confirmedPost,
  emptyCard,
  formCard,
  hiddenFields,
  pageHead,
  table,
} from "../shell/parts.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";

const PATH = "/portal/keys";
const LABEL_MAX = 100;
/** Bounds the page: an account may have a thousand deactivated keys. */
const DEACTIVATED_SHOWN = 100;
/** `once`: the id of the key that the form issues, so that sending it again issues no second one. */
const IssueForm = z.object({ label: z.string().max(LABEL_MAX).default(""), once: z.uuid().optional() });
const KeyParams = z.object({ keyId: z.uuid() });

export function keysPages(app: Api, deps: PortalDeps): void {
  app.get("/keys", { preHandler: requireSession }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const all = (await listKeys(deps, accountId)).reverse();
    const active = all.filter(({ status }) => status === "active").length;
    let left = DEACTIVATED_SHOWN;
    const keys = all.filter(({ status }) => status === "active" || left-- > 0);
    const limit = deps.limits[tier].activeKeys;
    const uses = new Map(
      await Promise.all(keys.map(async ({ _id }) => [_id, await lastUseOf(deps, _id)] as const)),
    );
    return sendPage(reply, {
      title: "API keys",
      nav: "API keys",
      body: html`${pageHead("API keys", {
        lead: html`${active} of ${limit} active keys. Programs send a key as <code>X-API-Key</code>; <a href="/docs">see the documentation</a>.`,
      })}
${issueCard(active >= limit, tier, deps.newId())}
${keys.length === 0 ? noKeys : keyTable(keys, uses)}
${all.length > keys.length && html`<p class="muted small">Of the deactivated keys, the last ${DEACTIVATED_SHOWN}.</p>`}`,
    });
  });

  formRoute(app, deps, "/keys", {
    schema: { body: IssueForm },
    run: async ({ reply, context, session: { accountId }, body: { label, once } }) => {
      const issued = await issueKey(deps, context, accountId, { label, keyId: once });
      const title = "Your new API key";
      const to = () => sendPage(reply, { title, nav: "API keys", body: newKey(issued, deps.baseUrl) });
      return { position: issued.position, to };
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

function issueCard(isFull: boolean, tier: string, once: string): Html {
  const plan = tier === "free" && html`, or <a href="/portal/plan">look at the Developer plan</a>`;
  if (isFull)
    return card("New key", "", {
      lead: html`All keys of your plan are in use: deactivate one first${plan}.`,
    });
  return formCard("New key", {
    action: PATH,
    isRow: true,
    buttonKind: "primary",
    button: html`${icon("plus")}Issue key`,
    fields: html`${hiddenFields({ once })}${field({
      label: "Label",
      name: "label",
      required: true,
      maxlength: LABEL_MAX,
      autocomplete: "off",
      placeholder: "Where you will use it, such as “Website”",
    })}`,
  });
}

function newKey({ key, label }: { key: string; label: string }, baseUrl: string): Html {
  const example = `curl ${baseUrl}/api/v1/shorten -H "X-API-Key: ${key}" -H "Content-Type: application/json" -d '{"url":"https://example.com/"}'`;
  return html`<section class="card"><h1>Your new API key</h1>
<p>${label && html`Its label is <strong>${label}</strong>. `}Copy the key now: it is shown this once only, as we keep no copy.</p>
${copyable("new-key", key, "the key")}
<h2>Try it</h2>${copyable("try-it", example, "the command")}
<p><a class="button" href="/portal/keys">Go to your keys</a></p></section>`;
}

const noKeys = emptyCard(
  "key",
  "No keys yet",
  "With a key, your programs create links and read their numbers. Give it a label that says where it is used, and it appears here with its last use.",
);

function keyTable(keys: readonly KeyDocument[], uses: ReadonlyMap<string, string | undefined>): Html {
  const title = "Your keys";
  const lastUse = (at: string | undefined) => (at ? time(at) : html`<span class="muted">Never</span>`);
  const columns: Column<KeyDocument>[] = [
    { name: "Label", cell: (key) => html`<strong>${nameOf(key)}</strong>` },
    { name: "Key", cell: ({ hint }) => html`<code>…${hint}</code>` },
    {
      name: "State",
      cell: ({ status }) =>
        status === "active"
          ? html`<span class="badge badge-good">Active</span>`
          : html`<span class="badge">Deactivated</span>`,
    },
    { name: "Issued", cell: ({ issuedAt }) => time(issuedAt) },
    { name: "Last used", cell: ({ _id }) => lastUse(uses.get(_id)) },
    { name: "Actions", isHidden: true, end: true, cell: deactivation },
  ];
  return card(title, table(title, columns, keys));
}

function deactivation(key: KeyDocument): HtmlValue {
  if (key.status !== "active") return false;
  return confirmedPost(
    "Deactivate",
    html`Programs that use <strong>${key.label || `…${key.hint}`}</strong> are refused at once. This can't be undone.`,
    `${PATH}/${key._id}/deactivate`,
    "Deactivate key",
  );
}

/** Where a person has several, as on the page of the plan. */
export function nameOf({ label, hint }: Pick<KeyDocument, "label" | "hint">): string {
  return label || `Key …${hint}`;
}
