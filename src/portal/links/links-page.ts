// GET /portal/links: the account's links with search, filters and paging; POST /portal/links/several: changes of chosen ones.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { listDomains } from "../../queries/accounts.ts";
import { accountLinks, countLinks, LINK_FILTERS, topLinks } from "../../queries/links/account-links.ts";
import { utcDate } from "../../runtime/moment.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { keptForm } from "../shell/error-page.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { type Notice, redirectTo } from "../shell/visit.ts";
import { changeSeveral, SEVERAL } from "./change-links.ts";
import { shortenForm } from "./create-link-form.ts";
import { counted, LONGEST_URL } from "./link-view.ts";
import { type ListQuery, linkFilters, linkList, listPath } from "./links-list.ts";

const LINKS_SHOWN = 50;
const LONGEST_KEY = 400;

/** Unknown values fall back to the defaults. */
const Query = z.object({
  q: z.string().trim().max(LONGEST_URL).default("").catch(""),
  show: z.enum(LINK_FILTERS).default("existing").catch("existing"),
  domain: z
    .union([z.literal("default"), z.uuid()])
    .optional()
    .catch(undefined),
  sort: z.literal("clicks").optional().catch(undefined),
  page: z.coerce.number().int().min(1).max(1_000_000).default(1).catch(1),
});

/** A field that was sent once is a text, else a list. */
const texts = z.preprocess(
  (value) => [value ?? []].flat(),
  z.array(z.string().max(LONGEST_KEY)).max(LINKS_SHOWN),
);

const SeveralForm = z.object({ change: z.enum(SEVERAL), link: texts });

/** Below the list: `chosen` are the keys of the links that stay chosen. */
type Answered = { notice: Notice; status: number; chosen: readonly string[] };

export function linksPages(app: Api, deps: PortalDeps): void {
  const list = { preHandler: requireSession, schema: { querystring: Query } };
  app.get("/links", list, (request, reply) => sendLinks(deps, request, reply, request.query));

  const kept = keptForm({
    show: ({ status, message, typed }, request, reply) =>
      sendLinks(deps, request, reply, Query.parse(request.query), {
        notice: { kind: "failed", text: message },
        status,
        chosen: texts.catch([]).parse(typed.link),
      }),
    path: (request) => listPath(Query.parse(request.query)),
  });
  const several = { ...kept, schema: { querystring: Query, body: SeveralForm } };
  app.post("/links/several", several, async (request, reply) => {
    const { change, link } = request.body;
    const { text, changed, refused } = await changeSeveral(deps, request, change, link);
    if (changed > 0 && refused.length === 0)
      return redirectTo(reply, listPath(request.query), { kind: "done", text });
    const answered = { notice: { kind: "failed", text } as const, chosen: refused };
    return sendLinks(deps, request, reply, request.query, { ...answered, status: changed > 0 ? 200 : 409 });
  });
}

async function sendLinks(
  deps: PortalDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  query: ListQuery,
  answered?: Answered,
): Promise<FastifyReply> {
  const { accountId } = signedIn(request);
  const domains = await listDomains(deps, accountId);
  const total = await countLinks(deps, accountId);
  const { q, show, domain, sort, page: number } = query;
  const domainId = domain === "default" ? null : domain;
  const paging = { page: number, limit: LINKS_SHOWN };
  const page =
    sort === "clicks"
      ? await topLinks(deps, accountId, paging)
      : await accountLinks(deps, accountId, { q, show, domainId, ...paging });
  const form = { chosen: answered?.chosen ?? [], today: utcDate(deps.clock()) };
  return sendPage(reply, {
    title: "Links",
    nav: "Links",
    status: answered?.status,
    notice: answered?.notice,
    styles: ["charts.css"],
    body: html`<div class="page-head"><div><h1>Links</h1><p class="muted">${counted(total.links, "link")}${
      total.deleted > 0 && html`, ${counted(total.deleted, "deleted one")}`
    }.</p></div></div>
${
  total.links + total.deleted === 0
    ? html`<section class="card empty"><h2>No links yet</h2><p>Paste a long address. Your short link works the moment you see it.</p>
${shortenForm(deps.newId())}</section>`
    : html`${linkFilters(query, domains)}${linkList(query, page, total, domains, form)}`
}`,
  });
}
