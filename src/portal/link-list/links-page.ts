// GET /portal/links: the account's links with search, filters and paging; POST /portal/links/several: changes of chosen ones.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { opened } from "../../commands/account/account.ts";
import { acceptTag } from "../../commands/links/tags.ts";
import { Refused } from "../../commands/refusals.ts";
import type { OpenStreams } from "../../limits/open-streams.ts";
import { listKeys } from "../../queries/accounts.ts";
import { listDomains } from "../../queries/domains.ts";
import {
  type AccountLinksFilter,
  type AccountLinksPage,
  accountLinkKeys,
  accountLinks,
  countAccountLinks,
  countLinks,
} from "../../queries/links/list-links.ts";
import { topLinks } from "../../queries/links/top-links.ts";
import { namesOf } from "../../queries/people.ts";
import { utcDate } from "../../runtime/moment.ts";
import { CHANGE_NAMES, changeSeveral, type SeveralChange } from "../links/change-links.ts";
import { count, counted } from "../links/link-view.ts";
import { createLinkForm } from "../links/new-link-page.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countRead } from "../shell/change-limit.ts";
import { hiddenFields } from "../shell/controls.ts";
import { formRoute } from "../shell/form-route.ts";
import { around, type Html, html, offered } from "../shell/html.ts";
import { emptyCard, table } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { type SignedIn, signedIn, zoneOf } from "../shell/sessions.ts";
import { sendQrCodes, sendTable } from "./links-as-files.ts";
import {
  filterOf,
  filtersIn,
  ListQuery,
  linkFilters,
  listPath,
  LINKS_PATH as PATH,
  SEVERAL,
} from "./links-filters.ts";
import { linkColumns, peopleMaking, severalActions } from "./links-table.ts";
import { savedFilterForms, savedFilters } from "./saved-filters.ts";

const LINKS_SHOWN = 50;
/** Links that one form changes: some seconds of work. */
const MOST_CHANGED = 1_000;
/** Keys in one form: those of a page, or of links that were just made from a table. */
const MOST_KEYS = 500;
/** Of a form with as many, whose domains are long. */
const SEVERAL_BYTES = 262_144;
const LONGEST_KEY = 400;

/** A field that was sent once is a text, else a list. */
const texts = z.preprocess(
  (value) => [value ?? []].flat(),
  z.array(z.string().max(LONGEST_KEY)).max(MOST_KEYS),
);

/** `all`: how many links fit, as the page said, where all are meant. `after`: cursor of those that were changed before. */
const SeveralForm = z.object({
  change: z.enum([...CHANGE_NAMES, "tag", "untag", "export", "qr"]),
  link: texts,
  all: z.coerce.number().int().min(1).optional(),
  after: z.string().max(LONGEST_KEY).optional(),
  tag: z.string().trim().max(LONGEST_KEY).default(""),
});
type SeveralForm = z.infer<typeof SeveralForm>;

/** What was done and what was not. `chosen`: keys of the links that stay chosen. `next`: what goes on with the others. */
type Outcome = { message: string; status: number; chosen: readonly string[]; next?: Html | undefined };

export function linksPages(app: Api, deps: PortalDeps & { exports: OpenStreams }): void {
  const list = { schema: { querystring: ListQuery } };
  app.get("/links", list, async (request, reply) => {
    if (request.query.q !== "") await countRead(deps, signedIn(request));
    return await sendLinks(deps, reply, request.query);
  });

  savedFilterForms(app, deps, (reply, query, refused) =>
    sendLinks(deps, reply, query, { ...refused, chosen: [] }),
  );

  formRoute(app, deps, "/links/several", {
    schema: { querystring: ListQuery, body: SeveralForm },
    bodyLimit: SEVERAL_BYTES,
    async run({ request, reply, query, body, ...by }) {
      const filter = filterOf(query, zoneOf(request));
      if (body.change === "export" || body.change === "qr") {
        await countRead(deps, by.session);
        if (body.all === undefined && body.link.length === 0)
          throw new Refused("invalid_request", "Choose at least one link first.");
        const take = body.change === "qr" ? sendQrCodes : sendTable;
        const wanted = body.all === undefined ? { keys: body.link } : filter;
        return { to: () => take(deps, reply, by.session.accountId, wanted) };
      }
      const wanted = changeOf(body.change, body.tag);
      const { keys, next: after, left } = await chosenLinks(deps, by.session, filter, body);
      const { text, changed, refused, position } = await changeSeveral(deps, by, wanted, keys);
      if (changed > 0 && refused.length === 0 && after === null) return { position, notice: text };
      const next = after === null ? undefined : goOn(query, body, after, left);
      const outcome = { message: text, status: changed > 0 ? 200 : 409, chosen: refused, next };
      return { position, to: () => sendLinks(deps, reply, query, outcome) };
    },
    again(reply, { status, message, typed }) {
      const chosen = texts.catch([]).parse(typed.link);
      return sendLinks(deps, reply, ListQuery.parse(reply.request.query), { message, status, chosen });
    },
    path: (request) => listPath(ListQuery.parse(request.query)),
  });
}

/** @throws invalid_request for a tag that is none */
function changeOf(change: Exclude<SeveralForm["change"], "export" | "qr">, typed: string): SeveralChange {
  if (change !== "tag" && change !== "untag") return { type: change };
  const tag = acceptTag(typed);
  return change === "tag" ? { type: "retag", to: tag } : { type: "retag", from: tag };
}

/**
 * Keys of the links that are meant. `next`: where as many more fit as `left` says.
 * @throws invalid_request when others fit by now than the form said; invalid_cursor, too_many_links
 */
async function chosenLinks(
  deps: PortalDeps,
  { accountId }: SignedIn,
  filter: AccountLinksFilter,
  { all, after, link }: SeveralForm,
): Promise<{ keys: readonly string[]; next: string | null; left: number }> {
  if (all === undefined) return { keys: link, next: null, left: 0 };
  const fitting = after === undefined ? await countAccountLinks(deps, accountId, filter) : all;
  if (fitting !== all)
    throw new Refused(
      "invalid_request",
      `${counted(fitting, "link")} fit by now, not ${count(all)}: look at the list, and choose again`,
    );
  const { keys, next } = await accountLinkKeys(deps, accountId, { ...filter, after, limit: MOST_CHANGED });
  return { keys, next, left: Math.max(1, all - keys.length) };
}

/** A form is done a part at a time: the button that does the next one. */
function goOn(query: ListQuery, { change, tag }: SeveralForm, next: string, left: number): Html {
  const part = left > MOST_CHANGED ? `${count(MOST_CHANGED)} of ${count(left)}` : count(left);
  return html`<form class="card" method="post" action="${listPath(query, SEVERAL)}">${hiddenFields({ change, tag, after: next, all: String(left) })}
<p>At most ${count(MOST_CHANGED)} links are changed at a time: ${counted(left, "link")} that fit are left.</p><div><button class="button button-primary">Go on with the next ${part}</button></div></form>`;
}

async function sendLinks(
  deps: PortalDeps,
  reply: FastifyReply,
  query: ListQuery,
  outcome?: Outcome,
): Promise<FastifyReply> {
  const { accountId } = signedIn(reply.request);
  const [account, domains, keys, { links, deleted }] = await Promise.all([
    deps.links.currentAccount(accountId),
    listDomains(deps, accountId),
    listKeys(deps, accountId),
    countLinks(deps, accountId),
  ]);
  const { members, tagColours: colours, savedFilters: saved } = opened(account);
  const { sort, after, before } = query;
  const place = { after, before, limit: LINKS_SHOWN };
  const filter = filterOf(query, zoneOf(reply.request));
  const page = sort
    ? await topLinks(deps, accountId, { ...filter, ...place })
    : await accountLinks(deps, accountId, { ...filter, ...place });
  const people = await namesOf(deps, [...members.keys(), ...peopleMaking(page.links)]);
  const fitting = sort ? undefined : await countAccountLinks(deps, accountId, filter);
  const chosen = outcome?.chosen ?? [];
  const shown = { keys, people, colours, chosen, today: utcDate(deps.clock()), fitting };
  const filters = linkFilters(query, { domains, keys, people }, savedFilters(query, saved));
  const isEmpty = links + deleted === 0;
  return sendPage(reply, {
    title: "Links",
    nav: "Links",
    status: outcome?.status,
    notice: outcome && { kind: outcome.status === 200 ? "info" : "failed", text: outcome.message },
    actions: html`<a class="button" href="/portal/tags">Tags</a><a class="button" href="${PATH}/many">Many at once</a>`,
    lead: `${counted(links, "link")}${deleted > 0 ? `, ${counted(deleted, "deleted one")}` : ""}.`,
    cards: [outcome?.next, ...(isEmpty ? [firstLink(deps.newId())] : [filters, listOf(query, page, shown)])],
  });
}

/** `fitting`: how many links fit the filters; undefined in an order without any. */
type Shown = Parameters<typeof linkColumns>[0] & { fitting: number | undefined };

function listOf(query: ListQuery, page: AccountLinksPage, { fitting, ...shown }: Shown): Html {
  if (page.links.length === 0) return nothing(query);
  const links = table("Your links", linkColumns(shown), page.links);
  const form = html`<form class="form" method="post" action="${listPath(query, SEVERAL)}" data-several>${severalActions(query, fitting, MOST_CHANGED)}
${links}</form>`;
  return html`<section class="card"><h2 class="visually-hidden">Your links</h2>
${offered(SEVERAL, form, links)}
${(page.next !== null || page.previous !== null) && pages(query, page)}</section>`;
}

function firstLink(once: string): Html {
  const form = createLinkForm(once);
  const first = html`<section class="card empty"><h2>No links yet</h2><p>Paste a long address. Your short link works the moment you see it.</p>
${form}</section>`;
  return around(form, first);
}

function pages(query: ListQuery, { next, previous }: AccountLinksPage): Html {
  const to = (place: Pick<ListQuery, "after" | "before">, label: string, rel = "") =>
    html`<a class="button" ${rel && html`rel="${rel}"`} href="${listPath({ ...query, after: undefined, before: undefined, ...place })}">${label}</a>`;
  return html`<nav class="actions pages" aria-label="Pages">${previous !== null && html`${to({}, "First")}${to({ before: previous }, "Previous", "prev")}`}
${next !== null && to({ after: next }, "Next", "next")}</nav>`;
}

/** Why the list is empty. */
function nothing(query: ListQuery): Html {
  const { sort, after, before } = query;
  const all = html`<a href="${PATH}">Show all links</a>`;
  if (after ?? before) return emptyCard("link", "Nothing more here", all);
  if (Object.keys(filtersIn(query)).length > 0)
    return emptyCard(
      "link",
      "Nothing found",
      html`No link ${sort && "that somebody has clicked "}matches. ${all}`,
    );
  if (sort)
    return emptyCard("link", "Nobody has clicked yet", "Links appear here once somebody has opened them.");
  const deleted = html`You can restore them. <a href="${PATH}?status=deleted">Show deleted links</a>`;
  return emptyCard("link", "All your links are deleted", deleted);
}
