// A data folder written by an earlier version is opened, projected and verified, and gives the same answers.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyLog } from "../../../src/audit/verify-log.ts";
import {
  GOLDEN,
  type Golden,
  questionsOf,
  redirectsOf,
} from "../../support/data-folder/golden-data-folder.ts";
import { visitor } from "../../support/portal/browser-like.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const FIXTURES = new URL("../../fixtures/data-folders/", import.meta.url).pathname;
/** Raised versions of projections have to be built first. */
const FOLDED = { timeout: 60_000, interval: 200 };

describe.each(["2026-11"])("the data folder of %s", (name) => {
  let folder: TemporaryFolder;
  let golden: Golden;
  let service: TestService;

  async function unpacked(into: string): Promise<string> {
    const dataDir = join(folder.path, into);
    await mkdir(dataDir);
    for (const file of await readdir(join(FIXTURES, name)))
      if (file.endsWith(".gz")) {
        const bytes = gunzipSync(await readFile(join(FIXTURES, name, file)));
        await writeFile(join(dataDir, file.slice(0, -3)), bytes);
      }
    return dataDir;
  }

  const start = (dataDir: string) =>
    startTestService({ ...GOLDEN.environment, DATA_DIR: dataDir }, () => new Date(golden.at));

  beforeAll(async () => {
    folder = await temporaryFolder();
    golden = JSON.parse(await readFile(join(FIXTURES, name, "expected.json"), "utf8"));
    service = await start(await unpacked("data"));
  });
  afterAll(async () => {
    await service.stop();
    await folder.remove();
  });

  it("holds the same log, event for event", async () => {
    const { eventStore } = service.backend;
    const verification = await verifyLog({ eventStore, clock: () => new Date(golden.at) });
    expect(verification).toMatchObject(golden.verification);
  });

  it("answers links and analytics as then", async () => {
    const { questions } = golden.answers;
    await expect.poll(() => questionsOf(service, golden.facts), FOLDED).toEqual(questions);
  });

  it("answers them from the log alone, too", async () => {
    const dataDir = await unpacked("without-documents");
    await rm(join(dataDir, "read.db"));
    const rebuilt = await start(dataDir);
    try {
      await expect.poll(() => questionsOf(rebuilt, golden.facts), FOLDED).toEqual(golden.answers.questions);
    } finally {
      await rebuilt.stop();
    }
  });

  it("lets its people sign in, with the addresses it has", async () => {
    const { json } = commandLine(service.config.dataDir, { BASE_URL: service.config.baseUrl });
    const { accounts } = await json("account", "list");
    expect(accounts.map(({ email }: { email: string }) => email)).toContain(GOLDEN.email);
    const person = visitor(service.port, { address: "198.51.100.8" });
    const { email, password } = GOLDEN;
    const page = await person.submit("/portal/sign-in", { email, password });
    expect(page.status).toBe(200);
    expect((person.cookies.get("linkledger-session") ?? "").split(".")[0]).toBe(golden.facts.accountId);
  });

  it("signs with the webhook keys that were given then, and knows what it had delivered", async () => {
    const received: { url: string | undefined; headers: IncomingHttpHeaders }[] = [];
    const receiver = createServer(({ url, headers }, response) => {
      received.push({ url, headers });
      response.end();
    });
    await new Promise<void>((resolve) => receiver.listen(GOLDEN.webhookPort, "127.0.0.1", resolve));
    try {
      const { json } = commandLine(service.config.dataDir, {
        ...GOLDEN.environment,
        BASE_URL: service.config.baseUrl,
      });
      const [good] = golden.facts.webhooks;
      await json("webhook", "test", good?.id ?? "");
      expect(received.find(({ url }) => url === "/good")?.headers["x-api-key"]).toBe(good?.key);
      const { deliveries } = await json("webhook", "deliveries", good?.id ?? "");
      expect(deliveries.length).toBeGreaterThan(3);
      expect(new Set(deliveries.map(({ state }: { state: string }) => state))).toEqual(
        new Set(["delivered"]),
      );
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
  });

  it("redirects as then, and counts on from where it was", async () => {
    expect(await redirectsOf(service, golden.facts)).toEqual(golden.answers.redirects);
    const { slug } = golden.facts.links[0] ?? {};
    const path = `/api/v1/analytics/${slug}`;
    const then = golden.answers.questions.find((question) => question.path === path)?.body as Analytics;
    const now = async () => (await service.ask<Analytics>(path, { key: golden.facts.key })).body;
    await expect
      .poll(async () => (await now()).analytics.totalClicks, FOLDED)
      .toBe(then.analytics.totalClicks + 1);
  });
});

type Analytics = { analytics: { totalClicks: number } };
