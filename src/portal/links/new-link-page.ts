// GET /portal/links/new and POST /portal/links: the form that creates a link, which keeps what was typed.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { createLink } from "../../commands/links/create-link.ts";
import { TIER_LIMITS } from "../../events/vocabulary.ts";
import { listDomains } from "../../queries/accounts.ts";
import { isRefused } from "../../runtime/refused.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { address } from "../shell/address.ts";
import { keptForm, type RefusedForm } from "../shell/error-page.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { portalContext, redirectTo } from "../shell/visit.ts";
import { type CreateLinkGiven, type CreateLinkRefusal, createLinkForm } from "./create-link-form.ts";
import { LONGEST_URL, linkPath, shortName } from "./link-view.ts";
import { typedUrl } from "./typed-url.ts";

const PATH = "/portal/links/new";

const CreateForm = z.object({
  url: z.string().trim().max(LONGEST_URL).default(""),
  domain: z.string().max(100).default(""),
  slug: z.string().trim().max(200).default(""),
  once: z.string().max(100).default(""),
});

/** `url`: fills the field in, such as after signing in again. */
const Query = z.object({ url: z.string().max(LONGEST_URL).default("").catch("") });

export function newLinkPage(app: Api, deps: PortalDeps): void {
  const form = { preHandler: requireSession, schema: { querystring: Query } };
  app.get("/links/new", form, (request, reply) => sendForm(deps, request, reply, { url: request.query.url }));

  const kept = keptForm({
    show: (refused, request, reply) => sendForm(deps, request, reply, given(refused.typed), refused),
    path: (_, typed) => address(PATH, { url: given(typed).url }),
  });
  const create = { ...kept, schema: { body: CreateForm } };
  app.post("/links", create, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const { once, ...given } = request.body;
    const created = await createLink(
      deps.links,
      portalContext(request),
      { accountId, tier, via: "web" },
      {
        url: typedUrl(given.url),
        domain_id: given.domain || undefined,
        customSlug: given.slug || undefined,
      },
      // The scope includes the fields, so that the same form with another URL creates another link.
      { idempotency: once ? JSON.stringify(["web", accountId, once, given]) : undefined },
    );
    await deps.whenReadable(created.position);
    const { custom_domain: host = deps.baseHost, slug, short_url: shortUrl } = created.link;
    const text = `${shortName({ shortUrl })} is ready. Copy it, and share it.`;
    return redirectTo(reply, linkPath({ host, slug }), { kind: "done", text });
  });
}

async function sendForm(
  deps: PortalDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  given: Partial<CreateLinkGiven>,
  refused?: RefusedForm,
): Promise<FastifyReply> {
  const { accountId, tier } = signedIn(request);
  const domains = TIER_LIMITS[tier].developerFeatures ? await listDomains(deps, accountId) : undefined;
  const usable = domains?.filter(({ state, active }) => state === "verified" && active);
  const refusal = refused && refusalOf(refused);
  return sendPage(reply, {
    title: "New link",
    nav: "Links",
    status: refused?.status,
    notice: refused && !refusal ? { kind: "failed", text: refused.message } : undefined,
    styles: ["charts.css"],
    body: html`<div class="page-head"><h1>New link</h1></div>
<section class="card">${createLinkForm(deps.newId(), usable, given, refusal)}</section>`,
  });
}

function given(typed: RefusedForm["typed"]): CreateLinkGiven {
  const text = (name: string) => (typeof typed[name] === "string" ? typed[name].slice(0, LONGEST_URL) : "");
  return { url: text("url"), domain: text("domain"), slug: text("slug") };
}

/** Undefined for errors that don't belong to a field of the form. */
function refusalOf({ error, message }: RefusedForm): CreateLinkRefusal | undefined {
  if (isRefused(error, "custom_slug_needs_domain"))
    return { slug: "A slug of your own needs one of your domains: choose it first." };
  if (isRefused(error, "tier_required")) return { domain: message };
  return isRefused(error) && error.field !== undefined ? { [error.field]: message } : undefined;
}
