// Errors of every thread are logged with type, code, message, stack and cause, and without user data.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Config, parseConfig } from "../../src/config.ts";
import { openSqliteEventStore } from "../../src/event-store/sqlite/event-store.ts";
import { startProjector } from "../../src/projections/runner/projector.ts";
import { ClickRecorder } from "../../src/redirect/clicks/click-recorder.ts";
import { packTarget } from "../../src/redirect/clicks/hit.ts";
import { recorderThreadStarter } from "../../src/redirect/clicks/start-recorder-thread.ts";
import { createLogger, type Logger } from "../../src/runtime/logging.ts";
import { startWebhooks } from "../../src/webhooks/webhooks.ts";
import { type EventStoreDbDouble, startDouble } from "../support/event-store/eventstoredb-double/double.ts";
import { sampleEvent } from "../support/event-store/sample-events.ts";
import { clickedLink } from "../support/redirect/clicked-link.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";

const UNAUTHENTICATED = { kind: "status", code: 16, details: "scripted" } as const;
const TIMES = Array.from({ length: 200 }, () => UNAUTHENTICATED);

type Line = { msg: string; err?: Record<string, unknown> & { cause?: Record<string, unknown> } };

describe("an error in a thread is logged with type, code, message, stack and cause", () => {
  let folder: TemporaryFolder;
  let double: EventStoreDbDouble;
  let config: Config;
  let lines: Line[];
  let log: Logger;
  let stop: () => Promise<void>;

  beforeEach(async () => {
    [folder, double] = await Promise.all([temporaryFolder(), startDouble()]);
    await double.store.append("account-of-nobody", "none", [sampleEvent()]);
    double.script.add("read", ...TIMES);
    double.script.add("append", ...TIMES);
    double.script.add("subscribe", ...TIMES.map((fault) => ({ ...fault, after: 0 })));
    config = {
      ...parseConfig({ DATA_DIR: folder.path, GEOIP_DB: "" }),
      eventStoreUrl: double.connectionString,
    };
    lines = [];
    log = createLogger("info", { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  });
  afterEach(async () => {
    await stop();
    await double.close();
    await folder.remove();
  });

  const logged = async (message: string | RegExp) => {
    const found = () =>
      lines.find(({ msg }) => (message instanceof RegExp ? message.test(msg) : msg === message));
    await expect.poll(found).toBeDefined();
    return found()?.err;
  };
  const anUnauthenticatedError = {
    type: expect.stringMatching(/Error$|^StoreFailed$/),
    code: expect.anything(),
    message: expect.stringContaining("16 UNAUTHENTICATED: scripted"),
    stack: expect.stringMatching(/\n +at .+\.[jt]s:\d+/),
  };

  it("by the projector, whose event store refuses its password", async () => {
    const projector = startProjector(config, log);
    stop = () => projector.stop(5_000);
    expect(await logged("building projections was interrupted, retrying")).toMatchObject(
      anUnauthenticatedError,
    );
  });

  it("by the webhooks", async () => {
    const webhooks = startWebhooks(config, log);
    stop = () => webhooks.stop(5_000);
    expect(await logged(/^webhook .*interrupted, retrying$/)).toMatchObject(anUnauthenticatedError);
  });

  it("by the click recorder", async () => {
    const recorder = new ClickRecorder({
      durability: "batched",
      startThread: recorderThreadStarter(config, randomBytes(8).toString("hex")),
      random: Math.random,
      log: (message, err) => log.warn({ err }, message),
    });
    stop = () => recorder.close();
    const facts = { address: "203.0.113.9", userAgent: "curl/8", referrer: "", language: "", prefetch: "" };
    recorder.record({ link: packTarget(clickedLink), at: Date.now(), method: "GET", query: "", ...facts });
    expect(await logged(/^Clicks wait in the spool/)).toMatchObject(anUnauthenticatedError);
  });

  it("by the event store's own thread, whose file lost its table", async () => {
    const file = join(folder.path, "events.db");
    const store = await openSqliteEventStore(file, { offThread: true });
    stop = () => store.close();
    const db = new DatabaseSync(file);
    db.exec("DROP TABLE appends");
    db.close();
    const err = await store.readAll({ limit: 1, categories: [""] }).catch((error: unknown) => error);
    log.error({ err }, "read");
    expect(await logged("read")).toMatchObject({
      type: "StoreFailed",
      code: "store_failed",
      message: expect.stringContaining("no such table: appends"),
      cause: {
        type: "Error",
        code: "ERR_SQLITE_ERROR",
        message: "no such table: appends",
        stack: expect.stringMatching(/sqlite\/log\.ts:\d+/),
      },
    });
  });
});
