// The first start on an empty read store beside a long log: not ready, but it tells how far it is and how long it takes.
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseConfig } from "../../src/config.ts";
import { openSqliteEventStore } from "../../src/event-store/sqlite.ts";
import { createLogger } from "../../src/logging.ts";
import { openService } from "../../src/service.ts";
import { send } from "../support/ask.ts";
import { linkClicked } from "../support/stored-events.ts";
import { append } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const EVENTS = 20_000;
const BATCH = 1_000;

it("tells progress, rate and time left in the log and to the operator until it is ready", {
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

  const lines: { msg: string; events?: number; done?: number }[] = [];
  const log = createLogger("info", { write: (line: string) => void lines.push(JSON.parse(line)) });
  const config = parseConfig({
    PORT: "0",
    BASE_URL: "http://localhost",
    DATA_DIR: folder.path,
    GEOIP_DB: "",
  });
  const service = await openService(config, log);
  try {
    const reasons = new Set<string>();
    const isReady = async () => {
      const { status, body } = await send<{ reasons: { part: string; reason: string }[] }>(
        Number(new URL(service.url).port),
        "/health/ready",
        {},
      );
      for (const { part, reason } of body.reasons) if (part.startsWith("projection ")) reasons.add(reason);
      return status === 200;
    };
    await expect.poll(isReady, { timeout: 200_000, interval: 100 }).toBe(true);
    expect([...reasons]).toContainEqual(
      expect.stringMatching(/^\d+ ms behind, catching up: \d+ %, \d+ events, \d+\/s(, about .+ left)?$/),
    );
    const [first, last] = ["projections catch up: ", "projections have caught up: 100 %"].map((text) =>
      lines.find(({ msg }) => msg.startsWith(text)),
    );
    expect(first).toMatchObject({ events: expect.any(Number), done: expect.any(Number) });
    expect(last?.events).toBeGreaterThan(0);
  } finally {
    await service.stop();
    await folder.remove();
  }
});
