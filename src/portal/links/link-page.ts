// One link under /portal/links/<host>/<slug>: QR code, changes, history.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { FIELD_NAMES, fieldRow, LINK_FIELDS } from "../../commands/links/fields/link-fields.ts";
import { withOptions } from "../../events/link-options.ts";
import type { LinkStatus } from "../../events/links/link-status.ts";
import type { Tier } from "../../events/vocabulary.ts";
import type { KeyDocument } from "../../projections/definitions/keys.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { listKeys } from "../../queries/accounts.ts";
import { type LinkStep, linkHistory } from "../../queries/links/link-history.ts";
import { statusOf } from "../../queries/links/link-statuses.ts";
import { isRefused } from "../../runtime/refused.ts";
import type { Actor } from "../../stores/event-store/port.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { copyable, field, inUtc, time } from "../shell/form.ts";
import { errorOf, formRoute, noticeOf, type RefusedForm, typedText } from "../shell/form-route.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { card, confirmedPost, formCard, hiddenFields, postButton } from "../shell/parts.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import type { Notice } from "../shell/visit.ts";
import { CHANGE_NAMES, CHANGES, changeOwnLink } from "./change-links.ts";
import { fieldChanges, fieldFacts } from "./fields-in-words.ts";
import { FIELDS_FORM_BYTES, linkFieldsForm } from "./link-fields-form.ts";
import {
  count,
  counted,
  LinkParams,
  LONGEST_URL,
  linkHead,
  linkPath,
  outward,
  shortName,
} from "./link-view.ts";
import { qrCard } from "./qr-card.ts";
import {
  editedFields,
  fieldErrors,
  isLinkField,
  shownFields,
  typedAgain,
  typedFields,
} from "./typed-fields.ts";
import { readableUrl, typedUrl } from "./urls.ts";
import { typedUtm, utmFields, utmOf, withUtm } from "./utm-fields.ts";

const MOST_STEPS = 100;

/** Without a `revision` whatever the link has become is edited. */
const EditForm = z.looseObject({
  url: z.string().trim().max(LONGEST_URL).optional(),
  revision: z.coerce.number().int().min(0).optional(),
});

/** Of a link that had an external id, which another link may have got meanwhile. */
const RestoreForm = z.looseObject({ external_id: z.string().trim().optional() });

type Params = z.infer<typeof LinkParams>;

export function linkPages(app: Api, deps: PortalDeps): void {
  const one = { preHandler: requireSession, schema: { params: LinkParams } };
  app.get("/links/:host/:slug", one, (request, reply) => sendLink(deps, reply, request.params));

  const path = (request: FastifyRequest) => linkPath(request.params as Params);
  for (const type of CHANGE_NAMES.filter((name) => name !== "restore"))
    formRoute(app, deps, `/links/:host/:slug/${type}`, {
      schema: { params: LinkParams },
      async run({ params, ...by }) {
        const { position } = await changeOwnLink(deps, by, params, { type });
        return { position, to: linkPath(params), notice: CHANGES[type].one };
      },
      path,
    });

  formRoute(app, deps, "/links/:host/:slug/restore", {
    schema: { params: LinkParams, body: RestoreForm },
    async run({ params, body: { external_id: typed }, ...by }) {
      const { link } = await linkHistory(deps, by.session.accountId, params.host, params.slug);
      const patch = typed === undefined ? {} : editedFields({ external_id: typed }, shownFields(link));
      const { position } = await changeOwnLink(deps, by, params, { type: "restore", patch });
      return { position, to: linkPath(params), notice: CHANGES.restore.one };
    },
    again: (refused, request, reply) => sendLink(deps, reply, request.params as Params, refused),
    path,
  });

  formRoute(app, deps, "/links/:host/:slug/edit", {
    schema: { params: LinkParams, body: EditForm },
    bodyLimit: FIELDS_FORM_BYTES,
    async run({ params, body: { url, revision, ...sent }, ...by }) {
      const { link } = await linkHistory(deps, by.session.accountId, params.host, params.slug);
      const longUrl = url === undefined || url === link.longUrl ? link.longUrl : typedUrl(url);
      const wanted = withUtm(longUrl, typedUtm(sent), utmOf(link.longUrl));
      const patch = {
        ...(wanted !== link.longUrl && { url: wanted }),
        ...editedFields(typedFields(sent), shownFields(link)),
      };
      const { position } = await changeOwnLink(deps, by, params, { type: "patch", patch }, revision);
      const notice = "Your changes are saved. They hold from now on.";
      return { position, to: linkPath(params), notice };
    },
    again: (refused, request, reply) => sendLink(deps, reply, request.params as Params, refused),
    path,
  });
}

/** `refused`: changes that were typed and not taken. */
async function sendLink(
  deps: PortalDeps,
  reply: FastifyReply,
  { host, slug }: Params,
  refused?: RefusedForm,
): Promise<FastifyReply> {
  const { accountId, tier } = signedIn(reply.request);
  const { link, history } = await linkHistory(deps, accountId, host, slug);
  const status = await statusOf(deps, link);
  const isThere = !link.deleted;
  const edit = !link.block && editCard(link, history, tier, refused);
  return sendPage(reply, {
    title: link.slug,
    nav: "Links",
    status: refused?.status,
    notice: (refused && whyRefused(refused)) ?? whyNotFollowed(link, status),
    styles: ["charts.css"],
    body: html`${linkHead(link, status, "Link")}
<div class="grid link-grid"><div class="stack">${link.block && blockedCard(link, link.block)}${
      isThere && html`${shareCard(link)}${optionsCard(link)}${edit}${stateCard(link)}`
    }${removalCard(link, refused)}</div>
<div class="stack">${isThere && qrCard(link)}${historyCard(link, history, await listKeys(deps, accountId))}</div></div>`,
  });
}

/** Where no field says it. */
function whyRefused(refused: RefusedForm): Notice | undefined {
  if (isLinkField(refused.field)) return undefined;
  if (!isRefused(refused.error, "precondition_failed")) return noticeOf(refused, "url");
  const text =
    "This link was changed meanwhile: see its history. What you typed is still here, everything else as it is now. Save again to change it.";
  return { kind: "failed", text };
}

/** Why nobody can follow the link, apart from being disabled, which a card says. */
function whyNotFollowed(link: LinkDocument, status: LinkStatus): Notice | undefined {
  const { host, activeFrom = "", expiresAt = "", expiredUrl, maxClicks = 0 } = link;
  const instead = expiredUrl === undefined ? "it answers 404" : `it leads to ${readableUrl(expiredUrl)}`;
  const texts: { [S in LinkStatus]?: string } = {
    deleted: "This link is deleted: it answers 404.",
    domain_inactive: `${readableUrl(host)} is not active: its links answer 404.`,
    scheduled: `This link starts on ${inUtc(activeFrom)}: until then it answers 404.`,
    expired: `This link expired on ${inUtc(expiresAt)}: ${instead}.`,
    used_up: `${count(maxClicks)} of ${counted(maxClicks, "click")} used: ${instead}.`,
  };
  const text = texts[status];
  return text === undefined ? undefined : { kind: "info", text };
}

/** Instead of the cards that would be refused. */
function blockedCard({ deleted }: LinkDocument, block: NonNullable<LinkDocument["block"]>): Html {
  const body = html`<p>The operator of this service has blocked this link${block.legal && " for a legal reason"} since ${time(block.since)}: <strong class="break">${block.reason}</strong></p>
<p class="muted">${!deleted && "Visitors see that it is blocked. Its clicks are still counted. "}Until the operator unblocks it, it can't be enabled, restored or given another destination.</p>`;
  return card("Blocked", body, { kind: "danger" });
}

function shareCard(link: LinkDocument): Html {
  const body = html`${copyable("short-url", link.shortUrl, "the short link")}
<p class="actions"><a class="button" href="${link.shortUrl}" target="_blank" rel="noopener">${icon("external")}Open</a>
<a class="button" href="${linkPath(link, "/analytics")}">${icon("chart")}View analytics</a></p>`;
  return card("Share", body);
}

function optionsCard(link: LinkDocument): Html | false {
  const options = fieldFacts(link);
  return options && card("Options", options);
}

function editCard(
  link: LinkDocument,
  history: readonly LinkStep[],
  tier: Tier,
  refused: RefusedForm | undefined,
): Html {
  const set = shownFields(link);
  const before = refused ? asOfRevision(link, history, Number(typedText(refused.typed, "revision"))) : link;
  const url =
    refused?.typed.url === undefined ? before.longUrl : typedText(refused.typed, "url").slice(0, LONGEST_URL);
  const typed = refused ? typedAgain(typedFields(refused.typed), shownFields(before), set) : set;
  const destination = field({
    label: "Destination",
    name: "url",
    required: true,
    maxlength: LONGEST_URL,
    autocomplete: "off",
    value: url === before.longUrl ? link.longUrl : url,
    error: errorOf(refused, "url"),
    hint: "The short link and its QR code stay the same. From now on they lead here.",
  });
  const utm = (refused && typedUtm(refused.typed)) ?? utmOf(link.longUrl);
  const errors = refused && { errors: fieldErrors(refused, set) };
  const more = linkFieldsForm({ tier, typed, set, hasPassword: link.passwordId !== undefined, ...errors });
  return formCard("Edit link", {
    action: linkPath(link, "/edit"),
    fields: html`${hiddenFields({ revision: String(link.revision) })}${destination}${utmFields(utm)}${more}`,
    button: "Save changes",
  });
}

/** The link as it was, by what later changes say of the time before them. */
function asOfRevision(link: LinkDocument, history: readonly LinkStep[], revision: number): LinkDocument {
  let earlier = link;
  for (const { changes, from } of history.filter((step) => step.revision > revision).toReversed()) {
    const before = FIELD_NAMES.map((name) => [LINK_FIELDS[name].option, changes[name]?.from]);
    earlier = withOptions({ ...earlier, longUrl: from ?? earlier.longUrl }, Object.fromEntries(before));
  }
  return earlier;
}

function stateCard(link: LinkDocument): Html {
  const { disabled, block } = link;
  if (disabled && block) return card("Disabled", "", { lead: "You have disabled the link, too." });
  if (disabled)
    return card("Disabled", postButton(linkPath(link, "/enable"), "Enable link", { kind: "primary" }), {
      lead: "The link answers 404. Its numbers are kept.",
    });
  return card("Disable", postButton(linkPath(link, "/disable"), html`${icon("pause")}Disable link`), {
    lead: "A disabled link answers 404 until you enable it again.",
  });
}

function removalCard(link: LinkDocument, refused: RefusedForm | undefined): Html | false {
  if (!link.deleted) {
    const question = html`<strong>${shortName(link)}</strong> answers 404 at once. You can restore it at any time: it stays in your list under “Deleted”.`;
    const words = html`${icon("trash")}Delete link`;
    const remove = html`<div>${confirmedPost("Delete", question, linkPath(link, "/delete"), words)}</div>`;
    const lead = "The link and its numbers leave your lists. You can restore both at any time.";
    return card("Delete", remove, { kind: "danger", lead });
  }
  if (link.block) return false;
  const externalId = field({
    label: fieldRow("external_id").label,
    name: "external_id",
    autocomplete: "off",
    value: typedText(refused?.typed ?? { external_id: link.externalId }, "external_id"),
    error: errorOf(refused, "external_id"),
    hint: "Where another link has got it meanwhile, this one needs another, or none.",
  });
  return formCard("Restore", {
    action: linkPath(link, "/restore"),
    lead: "Its slug is still yours: nobody else can take it. Restored, the link is what it was before it was deleted: live or disabled.",
    fields: link.externalId !== undefined && externalId,
    button: "Restore link",
    buttonKind: "primary",
  });
}

/** Change, time and actor, newest first. `keys`: the account's, for their labels. */
function historyCard(link: LinkDocument, history: readonly LinkStep[], keys: readonly KeyDocument[]): Html {
  const shown = history.slice(-MOST_STEPS).reverse();
  const entry = (step: LinkStep) =>
    html`<li><div><strong>${TITLES[step.type] ?? step.type.replace(/^Link/, "")}</strong>${detail(step)}</div>
<p class="muted small">${time(step.at)} · ${who(step.actor, keys)}</p></li>`;
  const rest = html`<p class="muted small">The last ${MOST_STEPS} of ${history.length} changes.</p>`;
  return card(
    "History",
    html`<ol class="timeline">${shown.map(entry)}</ol>${history.length > shown.length && rest}
<p><a href="${linkPath(link, "/explain")}">Explain this link</a></p>`,
  );
}

/** Others are shown by their name: `LinkDisabled` as "Disabled". */
const TITLES: { [T in LinkStep["type"]]?: string } = {
  LinkRetargeted: "Destination changed",
  LinkOptionsChanged: "Edited",
  LinkLimitReached: "Clicks used up",
  ClicksWithdrawn: "Hits withdrawn",
  ClicksRestored: "Withdrawn hits count again",
  Unreadable: "A change that can't be read",
};

function detail({ type, from, to, changes, withdrawn, blocked }: LinkStep): HtmlValue {
  if (blocked) return html`<p class="small">${blocked.legal && "For a legal reason: "}${blocked.reason}</p>`;
  if (withdrawn) return html`<p class="small">${withdrawn.clicks} no longer count: ${withdrawn.reason}</p>`;
  return html`${from !== undefined && html`<p class="small leads-to">from ${outward(from)}</p>`}${
    to !== undefined && html`<p class="small leads-to">to ${outward(to)}</p>`
  }${fieldChanges(changes, type === "LinkCreated")}`;
}

function who(actor: Actor, keys: readonly KeyDocument[]): string {
  if (actor.type !== "key") return WHO[actor.type];
  const key = keys.find(({ _id }) => _id === actor.id);
  return key ? `API key ${key.label || `…${key.hint}`}` : "an API key";
}

const WHO = {
  account: "in the portal",
  operator: "by the operator of this service",
  system: "by the service",
};
