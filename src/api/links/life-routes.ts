// GET, PATCH and DELETE /api/v1/links/{slug}, and restore: the HTTP face of changeLink and of the link's own
// stream.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import { changeLink, type LinkChangeRequest } from "../../commands/links/change-link.ts";
import type { CreateLinkDeps } from "../../commands/links/create-link.ts";
import type { ExistingLink } from "../../commands/links/link.ts";
import { coarseStatus, type LinkStatus, statusFacts } from "../../events/links/link-status.ts";
import { type CurrentLinkDeps, ownLink } from "../../queries/links/find-link.ts";
import { LinkDetailsObject, linkDetailsObject } from "../../queries/links/link-object.ts";
import { type JudgedLink, type StatusDeps, statusOf } from "../../queries/links/link-statuses.ts";
import { isKnown, revisionsOf, tagOf } from "../conditional-requests.ts";
import { type Api, contextOf } from "../fastify.ts";
import { apiErrors, DomainIdQuery, SlugParams } from "../schemas.ts";
import { PatchRequest } from "./link-requests.ts";

/** `changesAreFollowed`: resolves when this process redirects by the links as they are in the log. */
export type LifeDeps = CurrentLinkDeps &
  StatusDeps & { links: CreateLinkDeps; baseUrl: string; changesAreFollowed: () => Promise<void> };

const OWN =
  "Any link of the caller's account, whichever key or page created it; another account's link gives 403. ";

const linkAddress = { params: SlugParams, querystring: z.object({ domain_id: DomainIdQuery }) };

const conditional = z.object({
  "if-match": z
    .string()
    .optional()
    .meta({
      description: "The `ETag` of the link as you have read it: 412 when it has been changed since",
      examples: ['"3"'],
    }),
});
const ifNoneMatch = z.object({
  "if-none-match": z
    .string()
    .optional()
    .meta({ description: "An `ETag` that you have: 304 while the link is still so", examples: ['"3"'] }),
});

const details = LinkDetailsObject.describe("The link as it is now; its revision in `ETag`, too");

export function readLinkRoute(app: Api, deps: LifeDeps): void {
  const schema = {
    operationId: "getLink",
    summary: "Read one link",
    description: `${OWN}As of now, on every process.`,
    tags: ["Links"],
    ...linkAddress,
    headers: ifNoneMatch,
    response: {
      200: details,
      304: z.undefined().describe("Still as the caller has it"),
      ...apiErrors(400, 401, 403, 404),
    },
  };
  app.get("/api/v1/links/:slug", { schema }, async (request, reply) => {
    const { caller, params, query } = request;
    const link = await ownLink(deps, caller, { ...params, ...query });
    const status = await statusOf(deps, link);
    const etag = linkTag(link, { ...link, status });
    reply.header("etag", etag);
    if (isKnown(request.headers["if-none-match"], etag)) return reply.code(304).send();
    return linkDetailsObject(link, status, deps.baseUrl);
  });
}

export function changeLinkRoutes(app: Api, deps: LifeDeps): void {
  const common = {
    tags: ["Links"],
    ...linkAddress,
    headers: conditional,
    response: { 200: details, ...apiErrors(400, 401, 402, 403, 404, 409, 412) },
  };

  const patch = {
    operationId: "changeLink",
    summary: "Change one link",
    description: `${OWN}All members of one request are changed together, or none.`,
    ...common,
    body: PatchRequest,
  };
  app.patch("/api/v1/links/:slug", { schema: patch }, async (request, reply) =>
    send(reply, await changed(request, { type: "patch", patch: request.body })),
  );

  const remove = {
    operationId: "deleteLink",
    summary: "Delete one link",
    description: `${OWN}It answers 404 from now on, can be restored at any time, and its slug is given to nobody else.`,
    ...common,
  };
  app.delete("/api/v1/links/:slug", { schema: remove }, async (request, reply) =>
    send(reply, await changed(request, { type: "delete" })),
  );

  const restore = {
    operationId: "restoreLink",
    summary: "Restore a deleted link",
    description:
      `${OWN}It is what it was before it was deleted, live or disabled, with the members of the body changed, if there is one: ` +
      "such as `external_id` where another link has got its own meanwhile. One that is not deleted is changed alone.",
    ...common,
    // Null as it comes without one.
    body: PatchRequest.nullish(),
  };
  app.post("/api/v1/links/:slug/restore", { schema: restore }, async (request, reply) => {
    const { body: patch } = request;
    return send(reply, await changed(request, { type: "restore", ...(patch && { patch }) }));
  });

  type Request = Parameters<typeof contextOf>[0] & {
    params: { slug: string };
    query: { domain_id?: string | undefined };
    headers: { "if-match"?: string | undefined };
  };

  async function changed(request: Request, wanted: LinkChangeRequest): Promise<ExistingLink> {
    const { caller, params, query } = request;
    const ifRevision = revisionsOf(request.headers["if-match"]);
    const address = await ownLink(deps, caller, { ...params, ...query }, { orDeleted: true });
    const options = { ifRevision, isExisting: true, idempotency: request.keyed?.kept.seed };
    const { link } = await changeLink(deps.links, contextOf(request), caller, address, wanted, options);
    await deps.changesAreFollowed();
    return link;
  }

  async function send(reply: FastifyReply, link: ExistingLink): Promise<LinkDetailsObject> {
    const status = await statusOf(deps, link);
    reply.header("etag", linkTag(link, { revision: link.changes, status }));
    return linkDetailsObject(link, status, deps.baseUrl);
  }
}

/** Time, clicks and its domain change the status of a link without a revision. */
function linkTag(
  link: JudgedLink & { domainId?: string | null | undefined },
  { revision, status }: { revision: number; status: LinkStatus },
): string {
  const isByRevision = !link.domainId && coarseStatus(statusFacts(link)) !== "conditional";
  return tagOf(revision, isByRevision ? undefined : status);
}
