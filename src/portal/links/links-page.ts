// GET /portal/links: the account's links with search, filters and paging; POST /portal/links/several: changes of chosen ones.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { listDomains } from "../../queries/domains.ts";
import { accountLinks, countLinks, LINK_FILTERS } from "../../queries/links/list-links.ts";
import { topLinks } from "../../queries/links/top-links.ts";
import { utcDate } from "../../runtime/moment.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { formRoute } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { pageHead } from "../shell/parts.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { CHANGE_NAMES, changeSeveral } from "./change-links.ts";
import { counted, LONGEST_URL } from "./link-view.ts";
import { type ListQuery, linkFilters, linkList, listPath } from "./links-list.ts";
import { shortenForm } from "./new-link-page.ts";

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

const SeveralForm = z.object({ change: z.enum(CHANGE_NAMES), link: texts });

/** What was not changed, and why. `chosen`: the keys of the links that stay chosen. */
type Refused = { message: string; status: number; chosen: readonly string[] };

export function linksPages(app: Api, deps: PortalDeps): void {
  const list = { preHandler: requireSession, schema: { querystring: Query } };
  app.get("/links", list, (request, reply) => sendLinks(deps, reply, request.query));

  formRoute(app, deps, "/links/several", {
    schema: { querystring: Query, body: SeveralForm },
    async run({ reply, query, body: { change, link }, ...by }) {
      const { text, changed, refused, position } = await changeSeveral(deps, by, change, link);
      const notDone = { message: text, status: changed > 0 ? 200 : 409, chosen: refused };
      if (changed > 0 && refused.length === 0) return { position, to: listPath(query), notice: text };
      return { position, to: () => sendLinks(deps, reply, query, notDone) };
    },
    again({ status, message, typed }, request, reply) {
      const chosen = texts.catch([]).parse(typed.link);
      return sendLinks(deps, reply, Query.parse(request.query), { message, status, chosen });
    },
    path: (request) => listPath(Query.parse(request.query)),
  });
}

async function sendLinks(
  deps: PortalDeps,
  reply: FastifyReply,
  query: ListQuery,
  refused?: Refused,
): Promise<FastifyReply> {
  const { accountId } = signedIn(reply.request);
  const domains = await listDomains(deps, accountId);
  const total = await countLinks(deps, accountId);
  const { q, show, domain, sort, page: number } = query;
  const domainId = domain === "default" ? null : domain;
  const paging = { page: number, limit: LINKS_SHOWN };
  const page =
    sort === "clicks"
      ? await topLinks(deps, accountId, paging)
      : await accountLinks(deps, accountId, { q, show, domainId, ...paging });
  const form = { chosen: refused?.chosen ?? [], today: utcDate(deps.clock()) };
  const deleted = total.deleted > 0 && `, ${counted(total.deleted, "deleted one")}`;
  return sendPage(reply, {
    title: "Links",
    nav: "Links",
    status: refused?.status,
    notice: refused && { kind: "failed", text: refused.message },
    styles: ["charts.css"],
    body: html`${pageHead("Links", { lead: html`${counted(total.links, "link")}${deleted}.` })}
${
  total.links + total.deleted === 0
    ? html`<section class="card empty"><h2>No links yet</h2><p>Paste a long address. Your short link works the moment you see it.</p>
${shortenForm(deps.newId())}</section>`
    : html`${linkFilters(query, domains)}${linkList(query, page, total, domains, form)}`
}`,
  });
}
