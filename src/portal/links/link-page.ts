// One link under /portal/links/<host>/<slug>: what it is, its QR code, the form that changes it, and its history.

import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { FIELD_NAMES, fieldRow, fieldsOf, LINK_FIELDS } from "../../commands/links/fields/link-fields.ts";
import { isRefused } from "../../commands/refusals.ts";
import { withOptions } from "../../events/link-options.ts";
import type { LinkStatus } from "../../events/links/link-status.ts";
import { linkKey } from "../../events/streams.ts";
import type { Tier } from "../../events/vocabulary.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { listKeys } from "../../queries/accounts.ts";
import { ownLinkAt } from "../../queries/links/find-link.ts";
import { hitsOfLinks } from "../../queries/links/hits-of-links.ts";
import { type LinkStep, linkHistory } from "../../queries/links/link-history.ts";
import { statusOf } from "../../queries/links/link-statuses.ts";
import { peopleInSentences, peopleOf } from "../../queries/people.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import { brandOf } from "../account/account-page.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countDraft } from "../shell/change-limit.ts";
import { field } from "../shell/controls.ts";
import { formRoute, type ShowAgain } from "../shell/form-route.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { card, formCard, time } from "../shell/layout.ts";
import { noticeBox, sendPage } from "../shell/page.ts";
import { errorOf, noticeOf, type RefusedForm, typedText } from "../shell/refused-form.ts";
import type { Notice } from "../shell/request-visit.ts";
import { signedIn } from "../shell/sessions.ts";
import { CHANGE_NAMES, CHANGES, changeOwnLink } from "./change-links.ts";
import { usedOf } from "./fields-in-words.ts";
import { FIELDS_FORM_BYTES, linkForm } from "./link-form.ts";
import { historyCard } from "./link-history-card.ts";
import { planCard } from "./link-plan.ts";
import { LinkParams, LONGEST_URL, linkHead, linkPath, shortName } from "./link-view.ts";
import { qrCard, qrForms } from "./qr-card.ts";
import {
  actOnRules,
  editedFields,
  fieldErrors,
  isLinkField,
  type PlannedFields,
  readableFields,
  shownFields,
  type TypedFields,
  typedAgain,
  typedFields,
} from "./typed-fields.ts";
import { readableUrl, typedUrl } from "./urls.ts";
import { type KnownUtm, knownUtm, typedUtm, type Utm, utmOf, withUtm } from "./utm-fields.ts";

/** Without a `revision` whatever the link has become is edited. */
const EditForm = z.looseObject({
  url: z.string().trim().max(LONGEST_URL).optional(),
  revision: z.coerce.number().int().min(0).optional(),
});

/** Of a link that had an external id, which another link may have got meanwhile. */
const RestoreForm = z.looseObject({ external_id: z.string().trim().optional() });

type Params = z.infer<typeof LinkParams>;

export function linkPages(app: Api, deps: PortalDeps): void {
  const page = { schema: { params: LinkParams } };
  app.get("/links/:host/:slug", page, (request, reply) => sendLink(deps, reply, request.params));

  const path = (request: FastifyRequest) => linkPath(request.params as Params);
  const again: ShowAgain = (reply, refused) =>
    sendLink(deps, reply, reply.request.params as Params, { refused });
  const edit = { schema: { params: LinkParams, body: EditForm }, bodyLimit: FIELDS_FORM_BYTES, again, path };
  for (const type of CHANGE_NAMES.filter((name) => name !== "restore"))
    formRoute(app, deps, `/links/:host/:slug/${type}`, {
      schema: { params: LinkParams },
      async run({ params, ...by }) {
        const { position } = await changeOwnLink(deps, by, params, { type });
        return { position, notice: CHANGES[type].single };
      },
      path,
    });

  qrForms(app, deps, (reply, params, qr) => sendLink(deps, reply, params, { qr }));

  formRoute(app, deps, "/links/:host/:slug/restore", {
    schema: { params: LinkParams, body: RestoreForm },
    async run({ params, body: { external_id: typed }, ...by }) {
      const link = await ownLinkAt(deps, by.session.accountId, params);
      const patch = typed === undefined ? {} : editedFields({ external_id: typed }, shownFields(link));
      const { position } = await changeOwnLink(deps, by, params, { type: "restore", patch });
      return { position, notice: CHANGES.restore.single };
    },
    again,
    path,
  });

  formRoute(app, deps, "/links/:host/:slug/edit", {
    ...edit,
    async run({ params, body: { url, revision, ...sent }, ...by }) {
      const link = await ownLinkAt(deps, by.session.accountId, params);
      const longUrl = url === undefined || url === link.longUrl ? link.longUrl : typedUrl(url);
      const wanted = withUtm(longUrl, typedUtm(sent), utmOf(link.longUrl));
      const patch = {
        ...(wanted !== link.longUrl && { url: wanted }),
        ...editedFields(typedFields(sent), shownFields(link)),
      };
      const { position } = await changeOwnLink(deps, by, params, { type: "patch", patch }, revision);
      return { position, notice: "Your changes are saved. They hold from now on." };
    },
  });

  formRoute(app, deps, "/links/:host/:slug/draft", {
    ...edit,
    count: (session) => countDraft(deps, session),
    run: async ({ params, body, reply }) => ({ to: () => sendLink(deps, reply, params, { sent: body }) }),
  });
}

/**
 * What a form on the page holds instead of what is saved, with the button that was pressed as `act`. `qr`: how its code was
 * chosen.
 */
type Draft = { sent?: RefusedForm["typed"]; refused?: RefusedForm; qr?: Parameters<typeof qrCard>[2] };

async function sendLink(
  deps: PortalDeps,
  reply: FastifyReply,
  { host, slug }: Params,
  { sent, refused, qr }: Draft = {},
): Promise<FastifyReply> {
  const { accountId, personId, tier } = signedIn(reply.request);
  const { link, history } = await linkHistory(deps, accountId, host, slug);
  const status = await statusOf(deps, link);
  const { deleted, block, maxClicks } = link;
  const brand = await brandOf(deps, accountId);
  const [hits] = maxClicks === undefined ? [] : await hitsOfLinks(deps, [linkKey(host, slug)]);
  const used = hits && hits.click + hits.qr_scan;
  const actors = peopleOf(history.map(({ actor }) => actor));
  const people = await peopleInSentences(deps, actors, personId);
  const typed = refused?.typed ?? sent;
  const editing = editedForm(link, history, typed, refused === undefined);
  const keepsPassword = link.passwordId !== undefined && !editing.typed.removesPassword;
  const planned = typed
    ? { ...readableFields(editing.typed), ...(keepsPassword && { has_password: true as const }) }
    : { ...fieldsOf(link), rules: link.rules };
  const plan = planCard({
    title: typed ? "What it will be" : "What it is",
    shortName: shortName(link),
    longUrl: withUtm(typedUrl(editing.url), editing.utm, utmOf(link.longUrl)),
    fields: planned,
    now: deps.clock().getTime(),
    used,
  });
  const edit = async () => editCard(link, tier, editing, planned, await knownUtm(deps, accountId), refused);
  return sendPage(reply, {
    title: link.title ?? link.slug,
    nav: "Links",
    status: (refused ?? qr?.refused)?.status,
    notice: refused && whyRefused(refused),
    body: html`${linkHead(link, status, "Link")}
${stateBox(link, status)}
<div class="grid link-grid"><div class="stack">${block && blockedCard(link, block)}${!block && (deleted ? restoreCard(link, refused) : await edit())}</div>
<div class="stack">${!deleted && html`${plan}${qrCard(link, brand, qr)}`}${historyCard(link, history, await listKeys(deps, accountId), people)}</div></div>`,
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

/** Why nobody can follow the link, where no card says it. */
function stateBox(link: LinkDocument, status: LinkStatus): Html | false {
  const { host, activeFrom = "", expiresAt = "", expiredUrl, maxClicks = 0, disabled } = link;
  const instead = expiredUrl === undefined ? "it answers 404" : html`it leads to ${readableUrl(expiredUrl)}`;
  const texts: { [S in LinkStatus]?: HtmlValue } = {
    deleted: "This link is deleted: it answers 404.",
    domain_inactive: `${readableUrl(host)} is not active: its links answer 404.`,
    disabled: "This link is disabled: it answers 404 until you enable it. Its numbers are kept.",
    blocked: disabled && "You have disabled this link, too.",
    scheduled: html`This link starts on ${time(activeFrom)}: until then it answers 404.`,
    expired: html`This link expired on ${time(expiresAt)}: ${instead}.`,
    used_up: html`${usedOf(maxClicks, maxClicks)}: ${instead}.`,
  };
  const text = texts[status];
  return text !== undefined && text !== false && noticeBox({ kind: "info", text });
}

/** Instead of the cards that would be refused. */
function blockedCard({ deleted }: LinkDocument, block: NonNullable<LinkDocument["block"]>): Html {
  const body = html`<p>The operator of this service has blocked this link${block.legal && " for a legal reason"} since ${time(block.since)}: <strong class="break">${block.reason}</strong></p>
<p class="muted">${!deleted && "Visitors see that it is blocked. Its clicks are still counted. "}Until the operator unblocks it, it can't be enabled, restored or given another destination.</p>`;
  return card("Blocked", body, { kind: "danger" });
}

type Editing = { url: string; utm: Utm; typed: TypedFields; at: number | undefined };

/**
 * What stands in the form: what was typed since the revision that it was of, and else the link as it is. `isDraft`: with rules
 * that are empty yet, after what a button did to them.
 */
function editedForm(
  link: LinkDocument,
  history: readonly LinkStep[],
  sent: RefusedForm["typed"] | undefined,
  isDraft: boolean,
): Editing {
  const set = shownFields(link);
  if (!sent) return { url: link.longUrl, utm: utmOf(link.longUrl), typed: set, at: undefined };
  const { revision = link.revision } = sent;
  const before = asOfRevision(link, history, Number(revision));
  const url = sent.url === undefined ? before.longUrl : cutText(typedText(sent, "url"), LONGEST_URL);
  const typed = typedAgain(typedFields(sent, isDraft), shownFields(before), set);
  const { rules, at } = actOnRules(typed.rules ?? [], isDraft ? typedText(sent, "act") : "");
  return {
    url: url === before.longUrl ? link.longUrl : url,
    utm: typedUtm(sent) ?? utmOf(link.longUrl),
    typed: { ...typed, rules },
    at,
  };
}

function editCard(
  link: LinkDocument,
  tier: Tier,
  editing: Editing,
  planned: PlannedFields,
  knownUtm: KnownUtm,
  refused: RefusedForm | undefined,
): Html {
  const set = shownFields(link);
  const form = linkForm({
    ...{ id: "edit", action: linkPath(link, "/edit"), draft: linkPath(link, "/draft") },
    ...{ ...editing, tier, planned, set, knownUtm },
    hidden: { revision: String(link.revision) },
    hint: "The short link and its QR code stay the same. From now on they lead here.",
    hasPassword: link.passwordId !== undefined,
    errors: refused && fieldErrors(refused, set),
    button: "Save changes",
  });
  return card("Edit link", form);
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

/** Of a deleted link; nothing else can be done to it. */
function restoreCard(link: LinkDocument, refused: RefusedForm | undefined): Html {
  const externalId = field({
    label: fieldRow("external_id").label,
    name: "external_id",
    isExact: true,
    value: typedText(refused?.typed ?? { external_id: link.externalId }, "external_id"),
    error: errorOf(refused, "external_id"),
    hint: "Where another link has got it meanwhile, this one needs another, or none.",
  });
  return formCard("Restore", {
    action: linkPath(link, "/restore"),
    lead: "Its slug is still yours: nobody else can take it. Restored, the link is what it was before it was deleted: live or disabled.",
    fields: html`${link.externalId !== undefined && externalId}`,
    button: "Restore link",
    buttonKind: "primary",
  });
}
