// API keys under /portal/keys: list with last use, issue, rotate, deactivate.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { deactivateKey, issueKey, rotateKey } from "../../commands/account/change-keys.ts";
import { may, RIGHT_OF_SCOPE } from "../../commands/people/rights.ts";
import {
  KEY_SCOPES,
  type KeyScope,
  type Role,
  STREAM_LIMITS,
  USUAL_SCOPES,
} from "../../events/vocabulary.ts";
import { countTry } from "../../limits/rate-limit.ts";
import type { KeyDocument } from "../../projections/definitions/keys.ts";
import { acceptedEarlier, keyStatus, lastUseOf, listKeys } from "../../queries/accounts.ts";
import { FORMER_MEMBER, nameOf as nameOfPerson } from "../../queries/people.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { type Fields, form, schemaOf } from "../shell/controls.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { badge, type Columns, confirmed, confirmedPost, copyable, tableCard, time } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import type { RefusedForm } from "../shell/refused-form.ts";
import { signedIn } from "../shell/sessions.ts";

const PATH = "/portal/keys";
/** Bounds the page: an account may have a thousand deactivated keys. */
const DEACTIVATED_SHOWN = 100;
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
  "analytics:share": "Make and end shared pages, and see any numbers by them",
  "events:read": "Read the event feed",
  members: "Invite, change and remove members",
};
const LABEL = {
  label: {
    label: "Label",
    required: true,
    maxlength: 100,
    placeholder: "Where you will use it, such as “Website”",
  },
} satisfies Fields;
/** Whose a new key is. */
const OWNER = {
  of: {
    label: "Whose",
    options: [
      ["account", "The account's: it may what admins may, and outlives who made it"],
      ["person", "Yours: it may what you may, and ends with your membership"],
    ],
    schema: z.enum(["account", "person"]).default("account"),
  },
} satisfies Fields;
/** Of scopes those that a key of who has this role can use. */
const scopesOf = (role: Role) =>
  ({
    scopes: {
      label: "It may",
      options: KEY_SCOPES.filter((scope) => may(role, RIGHT_OF_SCOPE[scope])).map(
        (scope) => [scope, html`${SCOPE_NAMES[scope]} <code>${scope}</code>`] as const,
      ),
      boxes: true,
    },
  }) satisfies Fields;
const BOUNDS = {
  lifetime: {
    label: "It expires",
    options: LIFETIMES,
    schema: z.enum(LIFETIMES.map(([days]) => days)).default(""),
    refusedAs: "expires_at",
  },
  networks: {
    label: "Allowed addresses",
    rows: 2,
    maxlength: 1_000,
    isExact: true,
    hint: "Addresses or networks such as 203.0.113.0/24 or 2001:db8::/32. Empty: any.",
  },
} satisfies Fields;
/** `once`: the id of the key that the form issues, so that sending it again issues no second one. */
const IssueForm = schemaOf({ ...LABEL, ...OWNER, ...scopesOf("owner"), ...BOUNDS }).extend({
  once: z.uuid().optional(),
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
  const show = async (reply: FastifyReply, refused?: RefusedForm) => {
    const { accountId, personId, role, tier } = signedIn(reply.request);
    const manages = may(role, "manage");
    const now = deps.clock();
    const every = (await listKeys(deps, accountId)).reverse();
    const all = every.filter((key) => manages || key.personId === personId);
    const active = every.filter((key) => keyStatus(key, now) === "active").length;
    let left = DEACTIVATED_SHOWN;
    const keys = all.filter((key) => keyStatus(key, now) === "active" || left-- > 0);
    const limit = deps.limits[tier].activeKeys;
    const uses = new Map(
      await Promise.all(keys.map(async ({ _id }) => [_id, await lastUseOf(deps, _id)] as const)),
    );
    const plan = tier === "free" && html`, or <a href="/portal/plan">look at the Developer plan</a>`;
    const below =
      all.length > keys.length &&
      html`<p class="muted small">Of the keys that are over, the last ${DEACTIVATED_SHOWN}.</p>`;
    return sendPage(reply, {
      title: "API keys",
      nav: "API keys",
      lead: html`${active} of ${limit} active keys. Programs send a key as <code>X-API-Key</code>; <a href="/docs">see the documentation</a>.`,
      refused,
      cards: [
        active >= limit
          ? { title: "New key", lead: html`All keys of your plan are in use: deactivate one first${plan}.` }
          : {
              title: "New key",
              form: {
                action: PATH,
                hidden: { once: deps.newId() },
                fields: manages ? { ...LABEL, ...OWNER } : LABEL,
                folded: [{ title: "Scopes, expiry and addresses", fields: { ...scopesOf(role), ...BOUNDS } }],
                values: { scopes: USUAL_SCOPES },
                button: html`${icon("plus")}Issue key`,
                buttonKind: "primary",
              },
            },
        tableCard("Your keys", keyColumns({ uses, now, personId, names: await namesOf(deps, keys) }), keys, {
          none: NO_KEYS,
          below,
        }),
      ],
    });
  };
  app.get("/keys", (_, reply) => show(reply));

  const sendKey = (reply: FastifyReply, issued: NewKey) =>
    sendPage(reply, { title: "Your new API key", nav: "API keys", body: newKey(issued, deps.baseUrl) });

  formRoute(app, deps, "/keys", {
    schema: { body: IssueForm },
    run: async ({ reply, context, session, body: { once, of, lifetime, ...terms } }) => {
      const { accountId, role } = session;
      const isOwn = of === "person" || !may(role, "manage");
      const personId = isOwn ? session.personId : undefined;
      const expiresAt =
        lifetime === "" ? undefined : new Date(deps.clock().getTime() + Number(lifetime) * DAY_MS);
      const networks = terms.networks.split(/[\s,]+/).filter((text) => text !== "");
      const request = {
        label: terms.label,
        scopes: terms.scopes,
        keyId: once,
        personId,
        expiresAt,
        networks,
      };
      const issued = await issueKey(deps, context, accountId, request);
      return { position: issued.position, to: () => sendKey(reply, issued) };
    },
    again: show,
  });

  formRoute(app, deps, "/keys/:keyId/rotate", {
    schema: { params: KeyParams, body: RotateForm },
    run: async ({ reply, context, session: { accountId }, params: { keyId }, body: { hint, overlap } }) => {
      const terms = { ofHint: hint, overlapHours: Number(overlap) };
      const rotated = await rotateKey(deps, context, accountId, keyId, terms);
      return { position: rotated.position, to: () => sendKey(reply, rotated) };
    },
    again: "back",
  });

  formRoute(app, deps, "/keys/:keyId/deactivate", {
    schema: { params: KeyParams },
    // Keys can be deactivated at any time (interface, part 5): as often as an account can have keys.
    count: ({ accountId }) => countTry(deps, `key-deactivations ${accountId}`, STREAM_LIMITS.keysIssued),
    run: async ({ context, session: { accountId }, params: { keyId } }) => {
      const { position } = await deactivateKey(deps, context, accountId, keyId);
      return { position, notice: "The key is deactivated." };
    },
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

const NO_KEYS = [
  "No keys yet",
  "With a key, your programs create links and read their numbers. Give it a label that says where it is used, and it appears here with its last use.",
  "key",
] as const;

/** `names`: of people, by their ids. `personId`: who reads it. */
type KeyView = {
  uses: ReadonlyMap<string, string | undefined>;
  now: Date;
  personId: string;
  names: ReadonlyMap<string, string>;
};

/** Of those whose own keys these are. */
async function namesOf(deps: PortalDeps, keys: readonly KeyDocument[]): Promise<Map<string, string>> {
  const ids = new Set(keys.flatMap(({ personId }) => personId ?? []));
  const named = [...ids].map(
    async (id) => [id, (await nameOfPerson(deps, id)).name ?? FORMER_MEMBER] as const,
  );
  return new Map(await Promise.all(named));
}

function keyColumns(view: KeyView): Columns<KeyDocument> {
  const { uses, now, names } = view;
  const lastUse = (at: string | undefined) => (at ? time(at) : html`<span class="muted">Never</span>`);
  return {
    Label: (key) => html`<div><strong>${nameOf(key)}</strong>${bounds(key, names)}</div>`,
    Key: ({ hint }) => html`<code class="nowrap">…${hint}</code>`,
    State: (key) => state(key, now),
    Issued: "issuedAt",
    "Last used": ({ _id }) => lastUse(uses.get(_id)),
    Actions: { cell: (key) => actions(key, view), isHidden: true, end: true },
  };
}

/** Whose it is, what it may do and from where, of a key of a person, or that may not do all everywhere. */
function bounds({ scopes, networks, personId }: KeyDocument, names: KeyView["names"]): HtmlValue {
  const whose = personId === undefined ? [] : [`key of ${names.get(personId)}`];
  const parts = [...whose, ...(scopes ?? []), ...(networks?.map((network) => `from ${network}`) ?? [])];
  return parts.length > 0 && html`<br><span class="muted small">${parts.join(", ")}</span>`;
}

function state(key: KeyDocument, now: Date): Html {
  const { expiresAt } = key;
  const status = keyStatus(key, now);
  if (status === "deactivated") return badge("plain", "Deactivated");
  if (status === "expired") return badge("plain", "Expired");
  return html`<div>${badge("good", "Active")}${
    expiresAt !== undefined && html`<br><span class="muted small">until ${time(expiresAt)}</span>`
  }${acceptedEarlier(key, now).map(
    ({ hint, until }) =>
      html`<br><span class="muted small"><code>…${hint}</code>, too, until ${time(until)}</span>`,
  )}</div>`;
}

function actions(key: KeyDocument, { now, personId }: KeyView): HtmlValue {
  if (key.status !== "active") return false;
  // Nobody gets a text of somebody else's key, as it may do what they may.
  const isOthers = key.personId !== undefined && key.personId !== personId;
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
    form({
      action: `${path}/rotate`,
      hidden: { hint: key.hint },
      fields: {
        overlap: {
          id: `overlap-${key._id}`,
          label: earlier.length > 0 ? "The keys before it work" : "The present key works",
          options: OVERLAPS,
        },
      },
      button: "Rotate key",
      buttonKind: "danger",
    }),
  );
  const deactivation = confirmedPost(
    "Deactivate",
    html`Programs that use ${name} are refused at once. This can't be undone.`,
    `${path}/deactivate`,
    "Deactivate key",
  );
  return html`<div class="actions">${!isOthers && keyStatus(key, now) === "active" && rotation}${deactivation}</div>`;
}

/** Where a person has several, as on the page of the plan. */
export function nameOf({ label, hint }: Pick<KeyDocument, "label" | "hint">): string {
  return label || `Key …${hint}`;
}
