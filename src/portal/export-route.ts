// GET /portal/account/export: everything the log holds of the account, streamed as lines of JSON.
import { Readable } from "node:stream";
import type { Api } from "../api/fastify.ts";
import type { RecordedEvent } from "../event-store/port.ts";
import { accountEvents } from "../queries/account-events.ts";
import type { PortalDeps } from "./portal-deps.ts";
import { requireSession, signedIn } from "./sessions.ts";
import { countForAccount } from "./throttle.ts";

/** Each reads the log from the account's opening on. */
const EXPORTS_AN_HOUR = 5;

export function exportRoute(app: Api, deps: PortalDeps): void {
  app.get("/account/export", { preHandler: requireSession }, async (request, reply) => {
    const { accountId, email, tier } = signedIn(request);
    await countForAccount(deps, accountId, "export", EXPORTS_AN_HOUR);
    const at = deps.clock().toISOString();
    const head = { account_id: accountId, email, tier, exported_at: at };
    return reply
      .header("cache-control", "no-store")
      .header("content-disposition", `attachment; filename="linkledger-${at.slice(0, 10)}.ndjson"`)
      .type("application/x-ndjson")
      .send(Readable.from(lines(head, accountEvents(deps, accountId))));
  });
}

async function* lines(head: object, pages: AsyncGenerator<RecordedEvent[]>): AsyncGenerator<string> {
  yield `${JSON.stringify(head)}\n`;
  for await (const events of pages) yield events.map((event) => `${JSON.stringify(plain(event))}\n`).join("");
}

/** Without what only this service's machinery needs. */
function plain({ stream, revision, type, recordedAt, data, metadata }: RecordedEvent) {
  return {
    stream,
    revision,
    type,
    schema_version: metadata.schemaVersion,
    recorded_at: recordedAt,
    actor: metadata.actor,
    data,
  };
}
