// /admin/api/withdrawals: a link's withdrawals of clicks as JSON, what another one would take out, and both ways.
import { z } from "zod";
import type { Api } from "../../../api/fastify.ts";
import { previewRow, withdrawalRow } from "../../../queries/audit/withdrawal-rows.ts";
import type { ConsoleDeps } from "../guard.ts";
import {
  PreviewQuestion,
  previewFor,
  RestoreForm,
  restoreFor,
  WithdrawalForm,
  withdrawalsFor,
  withdrawFor,
} from "../withdrawals/operator-withdrawals.ts";

const OfLink = z.object({ link: z.string().min(1).max(500) });

export function withdrawalRoutes(app: Api, deps: ConsoleDeps): void {
  app.get("/withdrawals", { schema: { querystring: OfLink } }, async ({ query }) => ({
    withdrawals: (await withdrawalsFor(deps, query.link)).map(withdrawalRow),
  }));

  app.get("/withdrawals/preview", { schema: { querystring: PreviewQuestion } }, async ({ query }) =>
    previewRow(await previewFor(deps, query)),
  );

  app.post("/withdrawals", { schema: { body: WithdrawalForm } }, async (request, reply) => {
    const made = await withdrawFor(deps, request, request.body);
    const { withdrawalId, position } = made;
    return reply.code(201).send({ withdrawal_id: withdrawalId, position, ...previewRow(made) });
  });

  app.post("/withdrawals/restore", { schema: { body: RestoreForm } }, async (request) => {
    const { withdrawalId, position } = await restoreFor(deps, request, request.body);
    return { withdrawal_id: withdrawalId, restored: true, position };
  });
}
