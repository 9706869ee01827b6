// GET and POST /portal/links: the account's links with search, filters and paging; creating a link.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { TierRequired } from "../../commands/errors.ts";
import { createLink } from "../../commands/links/create-link.ts";
import {
  CustomSlugNeedsDomain,
  InvalidDomain,
  InvalidSlug,
  InvalidUrl,
  SlugTaken,
  UnsafeUrl,
} from "../../commands/links/link-errors.ts";
import { TIER_LIMITS } from "../../events/vocabulary.ts";
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import { listDomains } from "../../queries/accounts.ts";
import { accountLinks, countLinks, LINK_FILTERS, topLinks } from "../../queries/links/account-links.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { html } from "../shell/html.ts";
import { csrfField, sendPage } from "../shell/page.ts";
import { requireSession, type SignedIn, signedIn } from "../shell/sessions.ts";
import { portalContext, redirectTo } from "../shell/visit.ts";
import { type CreateLinkGiven, type CreateLinkRefusal, createLinkForm } from "./create-link-form.ts";
import { counted, LONGEST_URL, linkPath, shortName } from "./link-view.ts";
import { type ListQuery, linkFilters, linkList } from "./links-list.ts";

const LINKS_SHOWN = 50;

/** Unknown values fall back to the defaults. */
const Query = z.object({
  q: z.string().trim().max(LONGEST_URL).default("").catch(""),
  show: z.enum(LINK_FILTERS).default("existing").catch("existing"),
  domain: z
    .union([z.literal("default"), z.uuid()])
    .optional()
    .catch(undefined),
  sort: z.literal("clicks").optional().catch(undefined),
  cursor: z.string().max(1000).optional(),
});

const CreateForm = z.object({
  url: z.string().trim().max(LONGEST_URL).default(""),
  domain: z.string().max(100).default(""),
  slug: z.string().trim().max(200).default(""),
  once: z.string().max(100).default(""),
});

type Refused = { given: CreateLinkGiven; refusal: CreateLinkRefusal; status: number };

export function linksPages(app: Api, deps: PortalDeps): void {
  const list = { preHandler: requireSession, schema: { querystring: Query } };
  app.get("/links", list, (request, reply) => sendLinks(deps, signedIn(request), reply, request.query));

  const create = { preHandler: requireSession, schema: { body: CreateForm } };
  app.post("/links", create, async (request, reply) => {
    const session = signedIn(request);
    const { once, ...given } = request.body;
    try {
      const created = await createLink(
        deps.links,
        portalContext(request),
        { accountId: session.accountId, tier: session.tier, via: "web" },
        { url: given.url, domain_id: given.domain || undefined, customSlug: given.slug || undefined },
        // The scope includes the fields, so that the same form with another URL creates another link.
        { idempotency: once ? JSON.stringify(["web", session.accountId, once, given]) : undefined },
      );
      await deps.whenReadable(created.position);
      const { custom_domain: host = deps.baseHost, slug, short_url: shortUrl } = created.link;
      const text = `${shortName({ shortUrl })} is ready. Copy it, and share it.`;
      return redirectTo(reply, linkPath({ host, slug }), { kind: "done", text });
    } catch (error) {
      const refused = refusalOf(error);
      if (!refused) throw error;
      return sendLinks(deps, session, reply, Query.parse({}), { given, ...refused });
    }
  });
}

async function sendLinks(
  deps: PortalDeps,
  session: SignedIn,
  reply: FastifyReply,
  query: ListQuery,
  refused?: Refused,
): Promise<FastifyReply> {
  const { accountId, tier } = session;
  const domains = await listDomains(deps, accountId);
  const total = await countLinks(deps, accountId);
  const { q, show, domain, sort, cursor } = query;
  const domainId = domain === "default" ? null : domain;
  const page =
    sort === "clicks"
      ? await topLinks(deps, accountId, { limit: LINKS_SHOWN, cursor })
      : await accountLinks(deps, accountId, { q, show, domainId, cursor, limit: LINKS_SHOWN });
  const usable = TIER_LIMITS[tier].developerFeatures ? domains.filter(isUsable) : undefined;
  const form = createLinkForm(csrfField(reply), deps.newId(), usable, refused?.given, refused?.refusal);
  return sendPage(reply, {
    title: "Links",
    nav: "Links",
    status: refused?.status,
    styles: ["charts.css"],
    body: html`<div class="page-head"><div><h1>Links</h1><p class="muted">${counted(total.links, "link")}${
      total.deleted > 0 && html`, ${counted(total.deleted, "deleted one")}`
    }.</p></div></div>
<section class="card"><h2>New link</h2>${form}</section>
${total.links + total.deleted > 0 && linkFilters(query, domains)}
${linkList(query, page, total, domains)}`,
  });
}

function isUsable({ state, active }: DomainDocument): boolean {
  return state === "verified" && active;
}

/** Undefined for errors that don't belong to a field of the form. */
function refusalOf(error: unknown): Omit<Refused, "given"> | undefined {
  if (error instanceof InvalidUrl || error instanceof UnsafeUrl)
    return { status: 400, refusal: { url: error.message } };
  if (error instanceof TierRequired) return { status: 402, refusal: { domain: error.message } };
  if (error instanceof InvalidDomain) return { status: 400, refusal: { domain: error.message } };
  if (error instanceof CustomSlugNeedsDomain)
    return {
      status: 400,
      refusal: { slug: "A slug of your own needs one of your domains: choose it first." },
    };
  if (error instanceof InvalidSlug) return { status: 422, refusal: { slug: error.message } };
  if (error instanceof SlugTaken) return { status: 409, refusal: { slug: error.message } };
  return undefined;
}
