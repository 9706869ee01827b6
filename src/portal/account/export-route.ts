// GET /portal/account/export: all events of the account, streamed as JSON Lines.
import type { Api } from "../../api/fastify.ts";
import type { AccountStreams } from "../../api/streaming/account-streams.ts";
import { sendExport } from "../analytics/exports.ts";
import { countForAccount } from "../auth/throttle.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";

/** Limited, because each export reads the whole log since the account was opened. */
const EXPORTS_AN_HOUR = 5;

export function exportRoute(app: Api, deps: PortalDeps & { exports: AccountStreams }): void {
  // A HEAD would read the whole export for nobody.
  const options = { preHandler: requireSession, exposeHeadRoute: false };
  app.get("/account/export", options, async (request, reply) => {
    const { accountId, email, tier } = signedIn(request);
    await countForAccount(deps, accountId, "export", EXPORTS_AN_HOUR);
    const at = deps.clock().toISOString();
    const head = { account_id: accountId, email, tier, exported_at: at };
    const file = { type: "application/x-ndjson", name: `linkledger-${at.slice(0, 10)}.ndjson` };
    return sendExport(reply, deps.exports, accountId, file, async function* (signal) {
      yield `${JSON.stringify(head)}\n`;
      yield* deps.logReader.exportAccount(accountId, signal);
    });
  });
}
