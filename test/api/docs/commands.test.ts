// The guides' command lines are run as they stand, beside a running service with a webhook and a delivery.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountStream, linkStream } from "../../../src/events/streams.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { commandLine, runCommand } from "../../support/service/command-line.ts";
import { argumentsOf, commandsOf } from "../../support/service/documented-commands.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";
import { webhookOf } from "../../support/webhooks/webhook-of.ts";

const BROWSER = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };
const LOAD_TEST = { "user-agent": `${BROWSER["user-agent"]} loadtest` };

let service: TestService;
let folder: TemporaryFolder;
let receiver: Server;
let environment: Record<string, string>;
/** What the documents leave to the reader, by how they call it. */
let placeholders: Record<string, () => string | Promise<string>>;

beforeAll(async () => {
  folder = await temporaryFolder();
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: "true" });
  const { accountId, key } = await service.member("developer");
  receiver = createServer((request, response) => {
    request.resume().on("end", () => response.end('{"received":true}'));
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  const { port } = receiver.address() as AddressInfo;
  const { webhookId } = await webhookOf(service.backend, accountId, port);
  const body = { url: "https://example.com/" };
  const { slug } = (await service.post<{ slug: string }>("/api/v1/shorten", key, body)).body;
  await service.ask(`/${slug}`, { headers: BROWSER });
  await service.ask(`/${slug}`, { headers: LOAD_TEST });
  const deliveries = () => service.backend.deliveryQueue.list({ webhookId, state: "delivered", limit: 1 });
  await until("a delivery", async () => (await deliveries()).length === 1);
  const { dataDir, baseHost } = service.config;
  environment = { DATA_DIR: dataDir };
  const cli = commandLine(dataDir);
  await cli.json("audit", "seal");
  const { anchor } = await cli.json("audit", "anchor");
  const [opened] = await service.backend.eventStore.read(accountStream(accountId));
  const delivery = (await deliveries())[0]?.id ?? "";
  const withdrawal = async () =>
    (await cli.json("clicks", "withdrawals", slug)).withdrawals.at(-1).withdrawal_id;
  placeholders = {
    ACCOUNT_ID: () => accountId,
    "you@example.com": () => accountId,
    WEBHOOK_ID: () => webhookId,
    DELIVERY_ID: () => delivery,
    WITHDRAWAL_ID: withdrawal,
    LINK: () => slug,
    NAME: () => linkStream(baseHost, slug),
    POSITION: () => opened?.position ?? "",
    ANCHOR: () => anchor,
    PUBLIC_KEY: async () => (await cli.json("audit", "key")).public_key,
    "/backup/": () => `${folder.path}/`,
    "part.ndjson": () => `${folder.path}/part.ndjson`,
  };
});
afterAll(async () => {
  await service?.stop();
  receiver?.close();
  await folder?.remove();
});

const GUIDES = ["audit", "import", "operations", "webhooks"].map((name) => `docs/${name}.md`);

describe.each(GUIDES)("the command lines of %s", (document) => {
  it.each(commandsOf(document))("%s", async (line) => {
    let filled = line;
    for (const [name, value] of Object.entries(placeholders))
      if (filled.includes(name)) filled = filled.replace(name, await value());
    const { args, output } = argumentsOf(filled);
    const outcome = await runCommand(args, { env: environment });
    expect(outcome).toMatchObject({ code: 0, stdout: expect.stringMatching(/./) });
    if (output) writeFileSync(output, outcome.stdout);
  });
});
