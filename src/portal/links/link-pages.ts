// One link under /portal/links/<host>/<slug>: QR code, changes, history.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { listDomains, listKeys } from "../../queries/accounts.ts";
import { linkHistory } from "../../queries/links/link-history.ts";
import { isRefused } from "../../runtime/refused.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { keptForm } from "../shell/error-page.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { type Notice, redirectTo } from "../shell/visit.ts";
import { changeOwnLink } from "./change-links.ts";
import {
  blockedCard,
  type DestinationGiven,
  DONE,
  destinationCard,
  qrCard,
  removalCard,
  shareCard,
  stateCard,
} from "./link-cards.ts";
import { linkHead } from "./link-head.ts";
import { historyCard } from "./link-history-card.ts";
import { isServed, LONGEST_URL, linkPath } from "./link-view.ts";
import { readableUrl } from "./readable-url.ts";
import { typedUrl } from "./typed-url.ts";

export const LinkParams = z.object({ host: z.string().max(255), slug: z.string().max(100) });

const DestinationForm = z.object({ url: z.string().trim().max(LONGEST_URL).default("") });

type Params = z.infer<typeof LinkParams>;

export function linkPages(app: Api, deps: PortalDeps): void {
  const one = { preHandler: requireSession, schema: { params: LinkParams } };

  app.get("/links/:host/:slug", one, (request, reply) => sendLink(deps, reply, request.params));

  for (const type of Object.keys(DONE) as (keyof typeof DONE)[])
    app.post(`/links/:host/:slug/${type}`, one, async (request, reply) => {
      await changeOwnLink(deps, request, request.params, { type });
      return redirectTo(reply, linkPath(request.params), { kind: "done", text: DONE[type] });
    });

  const kept = keptForm({
    show: ({ error, message, status, typed: { url } }, request, reply) => {
      const isOfField = isRefused(error) && error.field === "url";
      const given = typeof url === "string" ? url.slice(0, LONGEST_URL) : undefined;
      const refused = { url: given, error: isOfField ? message : undefined };
      const notice = { kind: "failed", text: message } as const;
      return sendLink(deps, reply, request.params as Params, {
        refused,
        status,
        notice: isOfField ? undefined : notice,
      });
    },
    path: (request) => linkPath(request.params as Params),
  });
  const destination = {
    ...kept,
    schema: { params: LinkParams, body: DestinationForm },
  };
  app.post("/links/:host/:slug/destination", destination, async (request, reply) => {
    const { params, body } = request;
    await changeOwnLink(deps, request, params, { type: "retarget", url: typedUrl(body.url) });
    const text = "The link leads to its new destination from now on.";
    return redirectTo(reply, linkPath(params), { kind: "done", text });
  });
}

async function sendLink(
  deps: PortalDeps,
  reply: FastifyReply,
  { host, slug }: Params,
  answered: { refused?: DestinationGiven; status?: number; notice?: Notice | undefined } = {},
): Promise<FastifyReply> {
  const { accountId } = signedIn(reply.request);
  const { link, history } = await linkHistory(deps, accountId, host, slug);
  const keys = await listKeys(deps, accountId);
  const isThere = link.status !== "deleted";
  return sendPage(reply, {
    title: link.slug,
    nav: "Links",
    status: answered.status,
    notice: answered.notice ?? (await whyNotFollowed(deps, link)),
    styles: ["charts.css"],
    body: html`${linkHead(link, "Link")}
<div class="grid link-grid"><div class="stack">${blockedCard(link)}${isThere && html`${shareCard(link)}${!link.block && destinationCard(link, answered.refused)}${stateCard(link)}`}${removalCard(link)}</div>
<div class="stack">${isThere && qrCard(link)}${historyCard(link, history, keys)}</div></div>`,
  });
}

/** Why nobody can follow the link, apart from being disabled, which a card says. */
async function whyNotFollowed(deps: PortalDeps, link: LinkDocument): Promise<Notice | undefined> {
  if (link.status === "deleted") return { kind: "info", text: "This link is deleted: it answers 404." };
  const domains = link.domainId === null ? [] : await listDomains(deps, link.accountId);
  if (isServed(link, domains)) return undefined;
  return { kind: "info", text: `${readableUrl(link.host)} is not active: its links answer 404.` };
}
