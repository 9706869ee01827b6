// POST /admin/api/...: what the operator can do in the console, as JSON; with a session also a form token.
import { z } from "zod";
import type { Api } from "../../../api/fastify.ts";
import { blockLink, namedLink, unblockLink } from "../../../commands/links/change-link.ts";
import { PROJECTION_ACTS, performAct } from "../acts.ts";
import { type ConsoleDeps, operatorContext } from "../guard.ts";
import { BlockRequest, UnblockForm } from "../links/block-card.ts";

const Params = z.object({ name: z.string().max(100), act: z.enum(PROJECTION_ACTS) });
const Rebuild = z.object({ waits: z.boolean().default(false) }).nullish();

export function actRoutes(app: Api, deps: ConsoleDeps): void {
  app.post(
    "/projections/:name/:act",
    { schema: { params: Params, body: Rebuild } },
    async (request, reply) => {
      const { name, act } = request.params;
      const waits = request.body?.waits ?? false;
      await performAct(deps, operatorContext(request), { act, projection: name, waits });
      return reply.code(202).send({ projection: name, act });
    },
  );

  app.post("/links/block", { schema: { body: BlockRequest } }, async (request) => {
    const { link, ...why } = request.body;
    const address = namedLink(link, deps.baseHost);
    const { position } = await blockLink(deps, operatorContext(request), address, why);
    return { ...address, blocked: true, position };
  });

  app.post("/links/unblock", { schema: { body: UnblockForm } }, async (request) => {
    const address = namedLink(request.body.link, deps.baseHost);
    const { position } = await unblockLink(deps, operatorContext(request), address);
    return { ...address, blocked: false, position };
  });

  app.post("/verification", async (request, reply) => {
    const verification = await deps.verifications.start(operatorContext(request));
    return reply.code(202).send({ verification });
  });
}
