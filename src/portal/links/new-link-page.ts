// GET /portal/links/new and POST /portal/links: the form that creates a link, with what it will be beside it; POST
// /portal/links/new shows both as they are typed, and saves nothing.

import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { createLink } from "../../commands/links/create-link.ts";
import { acceptCustomSlug, SLUG_LENGTH } from "../../commands/links/slug.ts";
import { isRefused } from "../../commands/refusals.ts";
import { ACCOUNT_STYLE } from "../../events/links/qr-look.ts";
import { linkKey } from "../../events/streams.ts";
import { hasDeveloperFeatures } from "../../events/vocabulary.ts";
import { countTry } from "../../limits/rate-limit.ts";
import { links } from "../../projections/definitions/links.ts";
import { listDomains } from "../../queries/domains.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import { brandOf } from "../account/account-page.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { address } from "../shell/address.ts";
import { countDraft } from "../shell/change-limit.ts";
import { field, hiddenFields } from "../shell/controls.ts";
import { formRoute, type ShowAgain } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { badge } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { type RefusedForm, typedText } from "../shell/refused-form.ts";
import { signedIn } from "../shell/sessions.ts";
import { FIELDS_FORM_BYTES, LIVE_PARTS, linkForm, urlField } from "./link-form.ts";
import { planCard } from "./link-plan.ts";
import { LONGEST_URL, linkPath, shortName } from "./link-view.ts";
import { qrImage } from "./qr-card.ts";
import {
  actOnRules,
  editedFields,
  type FieldErrors,
  fieldErrors,
  readableFields,
  shownFields,
  typedFields,
} from "./typed-fields.ts";
import { readableUrl, typedUrl } from "./urls.ts";
import { knownUtm, typedUtm, utmOf, withUtm } from "./utm-fields.ts";

const PATH = "/portal/links/new";

const CreateForm = z.looseObject({
  url: z.string().trim().max(LONGEST_URL).default(""),
  domain: z.string().max(100).default(""),
  slug: z.string().trim().max(200).default(""),
  once: z.string().max(100).default(""),
});

/** `url`: fills the field in, such as after signing in again. */
const Query = z.object({ url: z.string().max(LONGEST_URL).default("").catch("") });

type Sent = RefusedForm["typed"];
/** Of the link that there isn't yet. */
const NO_FIELDS = shownFields({});
const NO_UTM = utmOf("");
/** What stands for a random slug in a code that is shown before there is one. */
const ANY_SLUG = "a".repeat(SLUG_LENGTH);

export function newLinkPage(app: Api, deps: PortalDeps): void {
  const page = { schema: { querystring: Query } };
  app.get("/links/new", page, (request, reply) => sendForm(deps, reply, { url: request.query.url }));

  const again: ShowAgain = (reply, refused) => sendForm(deps, reply, refused.typed, refused);
  const path = (_: FastifyRequest, typed: Sent) => address(PATH, { url: textIn(typed, "url") });
  const form = { schema: { body: CreateForm }, bodyLimit: FIELDS_FORM_BYTES, again, path };

  formRoute(app, deps, "/links", {
    ...form,
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
  });

  formRoute(app, deps, "/links/new", {
    ...form,
    count: (session) => countDraft(deps, session),
    run: async ({ body, reply }) => ({ to: () => sendForm(deps, reply, body) }),
  });
}

/** `sent`: what stands in the form, with the button that was pressed as `act`. */
async function sendForm(
  deps: PortalDeps,
  reply: FastifyReply,
  sent: Sent,
  refused?: RefusedForm,
): Promise<FastifyReply> {
  const { accountId, tier } = signedIn(reply.request);
  const mayHave = hasDeveloperFeatures(tier);
  const domains = mayHave ? await listDomains(deps, accountId) : [];
  const usable = domains.filter(({ state, active }) => state === "verified" && active);
  const { baseHostSlugs } = deps.links;
  const slugs = mayHave && baseHostSlugs ? "everywhere" : usable.length > 0 ? "on domains" : "none";
  const errors = refused ? errorsOf(refused) : {};
  const utm = typedUtm(sent) ?? NO_UTM;
  const fields = typedFields(sent, true);
  const act = refused ? "" : textIn(sent, "act");
  const { rules, at } = actOnRules(fields.rules ?? [], act);
  const typed = { ...fields, rules };
  const planned = readableFields(typed);
  const domain = usable.find(({ domainId }) => domainId === textIn(sent, "domain"));
  const host = domain?.hostname ?? deps.baseHost;
  const origin = domain ? `https://${host}` : deps.baseUrl;
  const isChosen = slugs === "everywhere" || domain !== undefined;
  const slug = act === "random" && isChosen ? deps.links.randomSlug() : textIn(sent, "slug");
  const brand = await brandOf(deps, accountId);
  const url = textIn(sent, "url");
  const plan = planCard({
    title: "What it will be",
    shortName: `${shortName({ shortUrl: origin })}/${slug || "…"}`,
    longUrl: withUtm(typedUrl(url), utm, NO_UTM),
    fields: planned,
    now: deps.clock().getTime(),
    // A code is no more than shown here: without it the form is as good.
    image: await qrImage(deps, `${origin}/${slug || ANY_SLUG}`, brand?.qr ?? ACCOUNT_STYLE, brand).catch(
      () => undefined,
    ),
  });
  const lookedUp = textIn(sent, "slug_known");
  const state = await slugState(deps, accountId, { host, slug: isChosen ? slug : "", lookedUp });
  const place =
    slugs !== "none" &&
    html`<div class="form-row">${usable.length > 0 && field({ label: "Domain", name: "domain", value: textIn(sent, "domain"), error: errors.domain, options: [["", "Default domain"], ...usable.map(({ domainId, hostname }) => [domainId ?? "", readableUrl(hostname)] as const)] })}
${field({ ...SLUG_FIELD, name: "slug", value: slug, error: errors.slug })}<button class="button" name="act" value="random" formaction="${PATH}" formnovalidate data-part="field-slug ${LIVE_PARTS}" data-stays>Random</button></div>
${state}${slugs === "on domains" && html`<p class="hint">On the default domain all are random; ${openedByOperator}.</p>`}`;
  const form = linkForm({
    ...{ action: "/portal/links", draft: PATH, hidden: { once: deps.newId() } },
    ...{ tier, url, place, typed, planned, errors, utm, at },
    knownUtm: await knownUtm(deps, accountId),
    button: html`${icon("plus")}Create link`,
  });
  return sendPage(reply, {
    title: "New link",
    nav: "Links",
    status: refused?.status,
    notice:
      refused && Object.keys(errors).length === 0 ? { kind: "failed", text: refused.message } : undefined,
    cards: [
      html`<div class="grid link-grid"><section class="card">
${form}
${slugs === "none" && html`<p class="hint">${mayHave ? addDomain : upgrade}</p>`}</section>
${plan}</div>`,
    ],
  });
}

function textIn(sent: Sent, name: string): string {
  return cutText(typedText(sent, name), LONGEST_URL);
}

const SLUG_FIELD = {
  label: "Slug",
  maxlength: 50,
  isExact: true,
  placeholder: "random",
} as const;

type WantedSlug = {
  host: string;
  /** Empty for a random one. */
  slug: string;
  /** What the form said last, so that only another slug is looked up. */
  lookedUp: string;
};

/** Whether the slug can be had, and why not; nothing of the link that has it. */
async function slugState(
  deps: PortalDeps,
  accountId: string,
  { host, slug, lookedUp }: WantedSlug,
): Promise<Html> {
  const stateOf = (about: Html) => html`<div id="slug-state" role="status">${about}</div>`;
  if (slug === "")
    return stateOf(
      html`<p class="hint">3 to 50 letters, digits, - and _. Leave it empty for a random one.</p>`,
    );
  const key = `${host}/${slug.toLowerCase()}`;
  const [lastKey, last = ""] = lookedUp.split(" ", 2);
  const isSame = lastKey === key && Object.hasOwn(SLUG_WORDS, last);
  const answer = isSame ? last : await lookUp(deps, accountId, host, slug);
  const words = SLUG_WORDS[answer];
  return stateOf(
    html`${badge(answer === "free" ? "good" : "warn", words ?? answer)}${words && hiddenFields({ slug_known: `${key} ${answer}` })}`,
  );
}

const SLUG_WORDS: Readonly<Record<string, string>> = {
  free: "This slug is free",
  taken: "This slug is taken",
};
const LOOK_UPS_AN_HOUR = 120;

/** `free`, `taken`, or why it can't be. */
async function lookUp(deps: PortalDeps, accountId: string, host: string, typed: string): Promise<string> {
  try {
    const slug = acceptCustomSlug(typed, host === deps.baseHost);
    await countTry(deps, `portal-slugs ${accountId}`, LOOK_UPS_AN_HOUR);
    const link = await deps.readStore.get(links.collection.name, linkKey(host, slug));
    return link === undefined ? "free" : "taken";
  } catch (error) {
    if (isRefused(error, "rate_limit_exceeded")) return "Whether it is free is said when the link is made";
    if (isRefused(error)) return error.message;
    throw error;
  }
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

/** The address alone. `once`: idempotency value of this form, so that submitting it twice creates one link. */
export function createLinkForm(once: string): Html {
  return html`<form method="post" action="/portal/links" class="form-row shorten">${hiddenFields({ once })}${urlField("")}<button class="button button-primary">${icon("plus")}Shorten</button></form>`;
}

/** Of slugs on the base host, where they are random. */
export const openedByOperator = html`the operator of this service changes that with <code>BASE_HOST_SLUGS=true</code>`;
const addDomain = html`<a href="/portal/domains">Add your own domain</a> to choose the part after the slash yourself. Here it is random; ${openedByOperator}.`;
const upgrade = html`Your own domain and your own slugs come with the <a href="/portal/plan">Developer plan</a>.`;
