// One link under /portal/links/<host>/<slug>: QR code, changes, history.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { changeLink, type LinkChangeRequest } from "../../commands/links/change-link.ts";
import { InvalidUrl, UnsafeUrl } from "../../commands/links/link-errors.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { listDomains, listKeys } from "../../queries/accounts.ts";
import { linkHistory } from "../../queries/links/link-history.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { html } from "../shell/html.ts";
import { csrfField, sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { type Notice, portalContext, redirectTo } from "../shell/visit.ts";
import {
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

export const LinkParams = z.object({ host: z.string().max(255), slug: z.string().max(100) });

const DestinationForm = z.object({ url: z.string().trim().max(LONGEST_URL).default("") });

type Params = z.infer<typeof LinkParams>;

export function linkPages(app: Api, deps: PortalDeps): void {
  const one = { preHandler: requireSession, schema: { params: LinkParams } };

  app.get("/links/:host/:slug", one, (request, reply) => sendLink(deps, request, reply, request.params));

  for (const type of Object.keys(DONE) as (keyof typeof DONE)[])
    app.post(`/links/:host/:slug/${type}`, one, async (request, reply) => {
      await change(deps, request, request.params, { type });
      return redirectTo(reply, linkPath(request.params), { kind: "done", text: DONE[type] });
    });

  const destination = { preHandler: requireSession, schema: { params: LinkParams, body: DestinationForm } };
  app.post("/links/:host/:slug/destination", destination, async (request, reply) => {
    const { params, body } = request;
    try {
      await change(deps, request, params, { type: "retarget", url: body.url });
    } catch (error) {
      if (!(error instanceof InvalidUrl || error instanceof UnsafeUrl)) throw error;
      return sendLink(deps, request, reply, params, { url: body.url, error: error.message });
    }
    const text = "The link leads to its new destination from now on.";
    return redirectTo(reply, linkPath(params), { kind: "done", text });
  });
}

/** @throws NotFound for another account's link */
async function change(
  deps: PortalDeps,
  request: FastifyRequest,
  { host, slug }: Params,
  wanted: LinkChangeRequest,
): Promise<void> {
  const { accountId, tier } = signedIn(request);
  await linkHistory(deps, accountId, host, slug);
  const by = { accountId, tier, via: "web" } as const;
  const { position } = await changeLink(deps.links, portalContext(request), by, { host, slug }, wanted);
  await deps.whenReadable(position);
}

async function sendLink(
  deps: PortalDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { host, slug }: Params,
  refused?: DestinationGiven,
): Promise<FastifyReply> {
  const { accountId } = signedIn(request);
  const { link, history } = await linkHistory(deps, accountId, host, slug);
  const keys = await listKeys(deps, accountId);
  const csrf = csrfField(reply);
  const isThere = link.status !== "deleted";
  return sendPage(reply, {
    title: link.slug,
    nav: "Links",
    status: refused ? 400 : undefined,
    notice: await whyNotFollowed(deps, link),
    styles: ["charts.css"],
    body: html`${linkHead(link, "Link")}
<div class="grid link-grid"><div class="stack">${isThere && html`${shareCard(link)}${destinationCard(link, csrf, refused)}${stateCard(link, csrf)}`}${removalCard(link, csrf)}</div>
<div class="stack">${isThere && qrCard(link)}${historyCard(link, history, keys)}</div></div>`,
  });
}

/** Why nobody can follow the link, apart from being disabled, which a card says. */
async function whyNotFollowed(deps: PortalDeps, link: LinkDocument): Promise<Notice | undefined> {
  if (link.status === "deleted")
    return { kind: "info", text: "This link is deleted. Who follows it gets 404." };
  const domains = link.domainId === null ? [] : await listDomains(deps, link.accountId);
  if (isServed(link, domains)) return undefined;
  return { kind: "info", text: `${link.host} is not active. Who follows a link on it gets 404.` };
}
