// GET /portal/links/new and POST /portal/links: the form that creates a link, which keeps what was typed.

import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { createLink } from "../../commands/links/create-link.ts";
import { hasDeveloperFeatures } from "../../events/vocabulary.ts";
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import { listDomains } from "../../queries/domains.ts";
import { isRefused } from "../../runtime/refused.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { address } from "../shell/address.ts";
import { type DrawnField, field, hiddenFields } from "../shell/form.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { pageHead } from "../shell/parts.ts";
import { type RefusedForm, typedText } from "../shell/refused-form.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { FIELDS_FORM_BYTES, linkFieldsForm } from "./link-fields-form.ts";
import { LONGEST_URL, linkPath, shortName } from "./link-view.ts";
import { editedFields, type FieldErrors, fieldErrors, shownFields, typedFields } from "./typed-fields.ts";
import { readableUrl, typedUrl } from "./urls.ts";
import { typedUtm, utmFields, utmOf, withUtm } from "./utm-fields.ts";

const PATH = "/portal/links/new";

const CreateForm = z.looseObject({
  url: z.string().trim().max(LONGEST_URL).default(""),
  domain: z.string().max(100).default(""),
  slug: z.string().trim().max(200).default(""),
  once: z.string().max(100).default(""),
});

/** `url`: fills the field in, such as after signing in again. */
const Query = z.object({ url: z.string().max(LONGEST_URL).default("").catch("") });

type Given = { url: string; domain: string; slug: string };
/** Of the link that there isn't yet. */
const NO_FIELDS = shownFields({});
const NO_UTM = utmOf("");

export function newLinkPage(app: Api, deps: PortalDeps): void {
  const form = { preHandler: requireSession, schema: { querystring: Query } };
  app.get("/links/new", form, (request, reply) => sendForm(deps, reply, { url: request.query.url }));

  formRoute(app, deps, "/links", {
    schema: { body: CreateForm },
    bodyLimit: FIELDS_FORM_BYTES,
    async run({ session: { accountId, tier }, context, body: { once, ...typed } }) {
      const by = { accountId, tier, via: "web" } as const;
      const wanted = {
        ...editedFields(typedFields(typed), NO_FIELDS),
        url: withUtm(typedUrl(typed.url), typedUtm(typed), NO_UTM),
        domain_id: typed.domain || undefined,
        customSlug: typed.slug || undefined,
      };
      // The scope includes the fields, so that the same form with another URL creates another link.
      const idempotency = once ? JSON.stringify(["web", accountId, once, typed]) : undefined;
      const { link, position } = await createLink(deps.links, context, by, wanted, { idempotency });
      const { host, slug, shortUrl } = link;
      const notice = `${shortName({ shortUrl })} is ready. Copy it, and share it.`;
      return { position, to: linkPath({ host, slug }), notice };
    },
    again: (refused, _, reply) => sendForm(deps, reply, given(refused.typed), refused),
    path: (_, typed) => address(PATH, { url: given(typed).url }),
  });
}

async function sendForm(
  deps: PortalDeps,
  reply: FastifyReply,
  given: Partial<Given>,
  refused?: RefusedForm,
): Promise<FastifyReply> {
  const { accountId, tier } = signedIn(reply.request);
  const mayHave = hasDeveloperFeatures(tier);
  const domains = mayHave ? await listDomains(deps, accountId) : [];
  const usable = domains.filter(({ state, active }) => state === "verified" && active);
  const { baseHostSlugs } = deps.links;
  const slugs = mayHave && baseHostSlugs ? "everywhere" : usable.length > 0 ? "on domains" : "none";
  const errors = refused ? errorsOf(refused) : {};
  const utm = (refused && typedUtm(refused.typed)) ?? NO_UTM;
  const more = linkFieldsForm({
    tier,
    typed: refused ? typedFields(refused.typed) : NO_FIELDS,
    errors,
  });
  const fields = html`${utmFields(utm)}${more}`;
  return sendPage(reply, {
    title: "New link",
    nav: "Links",
    status: refused?.status,
    notice:
      refused && Object.keys(errors).length === 0 ? { kind: "failed", text: refused.message } : undefined,

    body: html`${pageHead("New link")}
<section class="card">${createLinkForm(deps.newId(), { domains: usable, slugs, given, fields, errors })}
${slugs === "none" && html`<p class="hint">${mayHave ? addDomain : upgrade}</p>`}</section>`,
  });
}

function given(typed: RefusedForm["typed"]): Given {
  const text = (name: string) => cutText(typedText(typed, name), LONGEST_URL);
  return { url: text("url"), domain: text("domain"), slug: text("slug") };
}

/** None for a refusal that belongs to no field of the form. */
function errorsOf(refused: RefusedForm): FieldErrors {
  const { error, message, field } = refused;
  if (isRefused(error, "custom_slug_needs_domain"))
    return {
      slug: "A slug of your own needs one of your domains: choose it first, or ask the operator of this service to set BASE_HOST_SLUGS=true.",
    };
  if (isRefused(error, "tier_required") && !field) return { domain: message };
  return fieldErrors(refused, NO_FIELDS);
}

type LinkForm = {
  domains?: readonly DomainDocument[];
  /** Where a slug can be chosen. */
  slugs?: "none" | "on domains" | "everywhere";
  given?: Partial<Given>;
  /** What a link can carry besides. */
  fields?: Html;
  errors?: FieldErrors;
};

/**
 * The address alone, or with a choice of `domains` and a slug. `once`: idempotency value of this form, so that submitting
 * it twice creates one link.
 */
export function createLinkForm(
  once: string,
  { domains = [], slugs = "none", given = {}, fields, errors = {} }: LinkForm = {},
): Html {
  const isShort = slugs === "none";
  const own = domains.map(({ domainId, hostname }) => [domainId ?? "", readableUrl(hostname)] as const);
  const domain = { label: "Domain", name: "domain", value: given.domain, error: errors.domain };
  const slug: DrawnField = {
    label: "Slug",
    name: "slug",
    value: given.slug,
    error: errors.slug,
    maxlength: 50,
    autocomplete: "off",
    isExact: true,
    placeholder: "random",
    hint: html`3 to 50 letters, digits, - and _. Leave it empty for a random one.${slugs === "on domains" && html` On the default domain all are random; ${openedByOperator}.`}`,
  };
  const button = html`<button class="button button-primary">${icon("plus")}${isShort ? "Shorten" : "Create link"}</button>`;
  return html`<form method="post" action="/portal/links" class="${fields ? "form" : "form-row shorten"}">${hiddenFields({ once })}
${field({
  label: "Destination",
  name: "url",
  placeholder: "https://example.com/a/long/page",
  value: given.url,
  required: true,
  maxlength: LONGEST_URL,
  autocomplete: "off",
  isExact: true,
  error: isShort ? (errors.url ?? errors.domain ?? errors.slug) : errors.url,
})}
${!isShort && html`<div class="form-row">${domains.length > 0 && field({ ...domain, options: [["", "Default domain"], ...own] })}${field(slug)}</div>`}
${fields ? html`${fields}<div>${button}</div>` : button}</form>`;
}

/** Of slugs on the base host, where they are random. */
export const openedByOperator = html`the operator of this service changes that with <code>BASE_HOST_SLUGS=true</code>`;
const addDomain = html`<a href="/portal/domains">Add your own domain</a> to choose the part after the slash yourself. Here it is random; ${openedByOperator}.`;
const upgrade = html`Your own domain and your own slugs come with the <a href="/portal/plan">Developer plan</a>.`;
