// Makes a golden data folder: `node test/support/data-folder/write-data-folder.ts FOLDER` with the program whose format it keeps.
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { verifyLog } from "../../../src/audit/verify-log.ts";
import { currentAccounts } from "../../../src/commands/account/current-accounts.ts";
import { changeLink, type LinkChangeRequest } from "../../../src/commands/links/change-link.ts";
import { slugDerivation } from "../../../src/commands/links/derived-identity.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { callerOf, operator } from "../commands/command-deps.ts";
import { FIREFOX, visitor } from "../portal/browser-like.ts";
import { until } from "../runtime/until.ts";
import { runCommand } from "../service/service-process.ts";
import { startTestService, type TestService } from "../service/start-service.ts";
import { GOLDEN, type Golden, type GoldenFacts, questionsOf, redirectsOf } from "./golden-data-folder.ts";

const AGENTS = [
  FIREFOX,
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  "curl/8.14.1",
];
const REFERRERS = ["", "https://news.example/today?x=1", "https://www.search.example/"];
const QUERIES = ["", "?qr=1", "?utm_source=letter&utm_medium=mail&utm_term=a%20b"];

const folder = process.argv[2];
if (!folder) throw new Error("which folder?");
const dataDir = join(folder, "data");
await rm(folder, { recursive: true, force: true });
await mkdir(dataDir, { recursive: true });

/** 200 for one webhook, 500 for the other, so that deliveries of both kinds are in the queue. */
const receiver = createServer((request, response) => {
  request.resume();
  response.writeHead(request.url === "/good" ? 200 : 500).end();
});
await new Promise<void>((resolve) => receiver.listen(GOLDEN.webhookPort, "127.0.0.1", resolve));

const started = await startTestService({ ...GOLDEN.environment, DATA_DIR: dataDir });
const { facts, settled } = await fill(started);
await settled(started);
await started.stop();
receiver.closeAllConnections();
receiver.close();

// Answers at a moment that is kept, so that a later program can be asked at the same one.
const at = new Date().toISOString();
const copy = join(folder, "copy");
await cp(dataDir, copy, { recursive: true });
const asked = await startTestService({ ...GOLDEN.environment, DATA_DIR: copy }, () => new Date(at));
await settled(asked);
const verification = await verifyLog({ eventStore: asked.backend.eventStore, clock: () => new Date(at) });
const answers = { questions: await questionsOf(asked, facts), redirects: await redirectsOf(asked, facts) };
await asked.stop();
await rm(copy, { recursive: true });
const golden: Golden = { at, facts, answers, verification };
await writeFile(join(folder, "expected.json"), `${JSON.stringify(golden, null, 2)}\n`);
for (const file of await readdir(dataDir)) {
  if (/-(wal|shm)$/.test(file)) throw new Error(`${file} is left`);
  await writeFile(join(folder, `${file}.gz`), gzipSync(await readFile(join(dataDir, file))));
}
await rm(dataDir, { recursive: true });

async function fill(service: TestService) {
  const person = visitor(service.port, { address: "198.51.100.7" });
  await person.submit("/portal/sign-up", { email: GOLDEN.email, password: GOLDEN.password });
  const accountId = (person.cookies.get("linkledger-session") ?? "").split(".")[0] ?? "";
  await service.changeTier(accountId, "developer");
  const { key, keyId } = await service.issueKey(accountId);
  const revoked = await service.issueKey(accountId);
  await service.deactivateKey(accountId, revoked.keyId);
  const domainId = await service.domain(accountId, GOLDEN.hostname);
  await service.domain(accountId, "unproven.example", { verify: false });
  const free = await service.member("free");

  const made: { slug: string; host: string }[] = [];
  for (let n = 0; n < 5; n++) {
    const { body } = await service.post<{ slug: string }>("/api/v1/shorten", key, {
      url: `https://example.com/${n}?utm_campaign=c${n % 2}`,
    });
    made.push({ slug: body.slug, host: "localhost" });
  }
  const custom = { url: "https://example.com/custom", customSlug: "Hello-1", domain_id: domainId };
  const { body } = await service.post<{ slug: string }>("/api/v1/shorten", key, custom);
  made.push({ slug: body.slug, host: GOLDEN.hostname });
  const bulk = await service.post<{ results: { slug: string }[] }>("/api/v1/shorten/bulk", key, {
    links: [{ url: "https://example.com/b1" }, { url: "nothing" }, { url: "https://example.com/b2" }],
  });
  for (const { slug } of bulk.body.results) if (slug) made.push({ slug, host: "localhost" });
  const others = await service.post<{ slug: string }>("/api/v1/shorten", free.key, {
    url: "https://example.org/",
  });
  await shown(service, key, made.length);

  const click = (n: number) => {
    const { slug, host } = made[n % 7] ?? { slug: others.body.slug, host: "localhost" };
    return service.ask(`/${slug}${QUERIES[n % 3]}`, {
      method: n % 11 === 0 ? "HEAD" : "GET",
      host,
      headers: {
        "user-agent": AGENTS[n % 4] ?? "",
        referer: REFERRERS[n % 3] ?? "",
        "accept-language": n % 2 ? "de-DE,de;q=0.9" : "",
        "x-forwarded-for": n % 5 ? `81.2.69.${n % 50}` : `2001:db8:${n % 7}::1`,
      },
    });
  };
  // One click an append, then many in one.
  for (let n = 0; n < 40; n++) {
    await click(n);
    await pause(20);
  }
  for (let round = 0; round < 4; round++)
    await Promise.all(Array.from({ length: 70 }, (_, n) => click(round * 70 + n)));
  await service.ask(`/${others.body.slug}`);

  const instance = { ...GOLDEN.environment, BASE_URL: "http://localhost", DATA_DIR: dataDir };
  const addWebhook = (path: string) =>
    runCommand<{ webhook_id: string; key: string }>(
      instance,
      ...["webhook", "add", "--account", accountId],
      ...["--url", `http://127.0.0.1:${GOLDEN.webhookPort}${path}`, "--label", path.slice(1)],
    );
  const good = await addWebhook("/good");
  const bad = await addWebhook("/bad");
  const gone = await addWebhook("/gone");
  await runCommand(instance, "webhook", "remove", gone.webhook_id);
  await runCommand(instance, "webhook", "rotate", bad.webhook_id);

  const change = (n: number, request: LinkChangeRequest) =>
    changeLink(changeDeps(service), operator, callerOf(accountId, "developer"), made[n] as never, request);
  await change(0, { type: "retarget", url: "https://example.com/moved" });
  await change(1, { type: "disable" });
  await change(2, { type: "delete" });
  await change(3, { type: "disable" });
  await change(3, { type: "enable" });
  await change(4, { type: "delete" });
  await change(4, { type: "restore" });
  for (let n = 0; n < 14; n++) {
    await click(n);
    await pause(20);
  }

  const facts: GoldenFacts = {
    accountId,
    ...{ key, keyId, revokedKey: revoked.key, domainId },
    freeKey: free.key,
    links: [...made, { slug: others.body.slug, host: "localhost" }],
    webhooks: [good, { ...bad, key: undefined }].map(({ webhook_id: id, key: secret }) => ({
      id,
      key: secret,
    })),
  };
  /** Everything is folded, and every delivery was tried. */
  const settled = async (one: TestService) => {
    for (let last = ""; ; await pause(2000)) {
      const { text } = await one.ask("/metrics");
      const events = /^linkledger_projection_lag.*$/m.exec(text)?.[0];
      const answers = JSON.stringify([await questionsOf(one, facts), events]);
      if (answers === last) return;
      last = answers;
    }
  };
  return { facts, settled };
}

async function shown(service: TestService, key: string, links: number): Promise<void> {
  const listed = async () => (await service.ask<{ total: number }>("/api/v1/links", { key })).body.total;
  await until(`${links} links`, async () => (await listed()) === links);
}

function changeDeps(service: TestService) {
  const { eventStore, secrets } = service.backend;
  return {
    ...runtimeDeps,
    ...{ eventStore, secrets },
    currentAccount: currentAccounts(eventStore).current,
    keyPrefix: "ll",
    baseUrl: "http://localhost",
    baseHost: "localhost",
    urlSafety: async () => "safe" as const,
    recheckLater: async () => undefined,
    derivedSlug: slugDerivation("0".repeat(32)),
    log: { warn: () => undefined },
  };
}
