// First start with an empty read store and a long log: not ready, redirects work, and the progress is reported.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { issueKey } from "../../../src/commands/account/change-keys.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { parseConfig } from "../../../src/config/config.ts";
import { createLogger } from "../../../src/runtime/logging.ts";
import { openService } from "../../../src/service/service.ts";
import { openBackend } from "../../../src/service/stores/backend.ts";
import { openSqliteEventStore } from "../../../src/stores/event-store/sqlite/event-store.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { linkClicked, linkCreated } from "../../support/event-store/stored-events.ts";
import { append } from "../../support/runtime/stores.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { send } from "../../support/service/ask.ts";

/** Quick cores fold them in half a second, in which readiness is computed every 100 ms. */
const EVENTS = 100_000;
const BATCH = 1_000;

it("reports progress, rate and time left in the log and to the operator until it is ready", {
  timeout: 240_000,
}, async () => {
  const folder = await temporaryFolder();
  const hourAgo = () => new Date(Date.now() - 3_600_000);
  const store = await openSqliteEventStore(join(folder.path, "events.db"), { clock: hourAgo });
  for (let n = 0; n < EVENTS; n += BATCH)
    await append(
      store,
      `clicks-${n}-20260301`,
      Array.from({ length: BATCH }, (_, i) => linkClicked({ link: `sho.rt/l${i}` })),
    );
  await store.close();
  const environment = {
    PORT: "0",
    BASE_URL: "http://localhost",
    DATA_DIR: folder.path,
    GEOIP_DB: "",
  };
  const key = await keyOfLink(environment);

  const lines: { msg: string; events?: number; done?: number }[] = [];
  const log = createLogger("info", { write: (line: string) => void lines.push(JSON.parse(line)) });
  const service = await openService(parseConfig(environment), log);
  try {
    const reasons = new Set<string>();
    const port = Number(new URL(service.url).port);
    const refused = new Set<string>();
    const redirected = new Set<number>();
    const analytics = async () => {
      const { status, body, headers } = await send<Answer>(port, "/api/v1/analytics/abc", { key });
      if (status === 503) refused.add(`${headers["retry-after"]} s: ${body.error}`);
      return status;
    };
    const isReady = async () => {
      redirected.add((await send(port, "/abc", { method: "HEAD" })).status);
      await analytics();
      const { status, body } = await send<Health>(port, "/health/ready", {});
      for (const { part, reason } of body.reasons) if (part.startsWith("projections ")) reasons.add(reason);
      return status === 200;
    };
    await expect.poll(isReady, { timeout: 200_000, interval: 100 }).toBe(true);
    expect([...reasons]).toContainEqual(
      expect.stringMatching(
        /^are (\d+ s behind|built for the first time), catching up: \d+ %, \d+ events, \d+\/s(, about .+ left)?$/,
      ),
    );
    expect([...refused]).toContainEqual(expect.stringMatching(/^\d+ s: .*\([a-z-]+\) is being made: \d+ %/));
    expect([...redirected]).toEqual([301]);
    await expect.poll(analytics).toBe(200);
    const line = (text: string) => lines.find(({ msg }) => msg.startsWith(text));
    const progress = { events: expect.any(Number), done: expect.any(Number) };
    expect(line("projections catch up: ")).toMatchObject(progress);
  } finally {
    await service.stop();
    await folder.remove();
  }
});

type Answer = { error?: string };
type Health = { reasons: { part: string; reason: string }[] };

/** Creates the link abc, deletes the documents, and returns a key of its account. */
async function keyOfLink(environment: Record<string, string>): Promise<string> {
  const config = parseConfig(environment);
  const backend = await openBackend(config);
  const deps = { ...runtimeDeps, ...config, ...backend };
  const { accountId } = await openAccount(deps, operator, { email: "a@example.com", tier: "developer" });
  const { key } = await issueKey(deps, operator, accountId, {});
  const created = linkCreated({ host: "localhost", slug: "abc", accountId });
  await append(backend.eventStore, "link-localhost/abc", [created]);
  await backend.close();
  for (const end of ["", "-wal", "-shm"]) await rm(join(config.dataDir, `read.db${end}`), { force: true });
  return key;
}
