// GET /api/v1/links/{slug}/proof: the proof of a link for its owner to keep.
import { z } from "zod";
import { linkKey } from "../../events/streams.ts";
import { CONTENT_TYPES, sendExport } from "../../limits/exports.ts";
import type { OpenStreams } from "../../limits/open-streams.ts";
import { type CurrentLinkDeps, ownLink } from "../../queries/links/find-link.ts";
import type { LogReader } from "../../queries/log-reader/log-reader.ts";
import type { Api } from "../fastify.ts";
import { apiErrors, DomainIdQuery, SlugParams } from "../schemas.ts";

type Deps = CurrentLinkDeps & { exports: OpenStreams; logReader: Pick<LogReader, "exportProof"> };

export function proofRoute(app: Api, deps: Deps): void {
  const schema = {
    operationId: "exportProof",
    summary: "Take the proof of one link",
    description:
      "Its events as they were written and hashed, a line each, with the seals that cover them and hashes in place of " +
      "all others': `examples/verify-export.py` and the portal check it. What happened since the last seal has none yet.",
    tags: ["Links"],
    params: SlugParams,
    querystring: z.object({ domain_id: DomainIdQuery }),
    response: {
      200: { description: "The file", content: { "application/x-ndjson": { schema: z.string() } } },
      ...apiErrors(400, 401, 403, 404, 429),
    },
  };
  app.get("/api/v1/links/:slug/proof", { schema, exposeHeadRoute: false }, async (request, reply) => {
    const { caller, params, query } = request;
    const { host, slug } = await ownLink(deps, caller, { ...params, ...query }, { orDeleted: true });
    const file = { type: CONTENT_TYPES.ndjson, name: `proof-${slug}.ndjson` };
    return sendExport(reply, deps.exports, caller.accountId, file, (signal) =>
      deps.logReader.exportProof(linkKey(host, slug), signal),
    );
  });
}
