// POST /admin/api/...: what the operator can do in the console, as JSON; with a session also a form token.
import { z } from "zod";
import type { Api } from "../../../api/fastify.ts";
import { PROJECTION_ACTS, performAct } from "../acts.ts";
import { type ConsoleDeps, operatorContext } from "../guard.ts";

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

  app.post("/verification", async (request, reply) => {
    const verification = await deps.verifications.start(operatorContext(request));
    return reply.code(202).send({ verification });
  });
}
