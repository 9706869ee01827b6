// The guides' command lines are run as they stand, beside a running service with a webhook and a delivery.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountStream } from "../../../src/events/streams.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { commandsOf, runInShell } from "../../support/service/documented-commands.ts";
import { BASE_URL, startTestService, type TestService } from "../../support/service/start-service.ts";
import { webhookOf } from "../../support/webhooks/webhook-of.ts";

const BROWSER = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };

let service: TestService;
let folder: TemporaryFolder;
let receiver: Server;
let environment: Record<string, string>;
/** What the documents leave to the reader, by how they call it. */
let placeholders: Record<string, string>;

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
  const deliveries = () => service.backend.deliveryQueue.list({ webhookId, state: "delivered", limit: 1 });
  await until("a delivery", async () => (await deliveries()).length === 1);
  const { dataDir } = service.config;
  environment = { DATA_DIR: dataDir, BASE_URL, WEBHOOK_ALLOW_PRIVATE: "true" };
  const cli = commandLine(dataDir, environment);
  await cli.json("audit", "seal");
  const [opened] = await service.backend.eventStore.read(accountStream(accountId));
  placeholders = {
    ACCOUNT_ID: accountId,
    WEBHOOK_ID: webhookId,
    DELIVERY_ID: (await deliveries())[0]?.id ?? "",
    NAME: accountStream(accountId),
    POSITION: opened?.position ?? "",
    ANCHOR: (await cli.json("audit", "verify")).anchor,
    "/backup/": `${folder.path}/`,
  };
});
afterAll(async () => {
  await service?.stop();
  receiver?.close();
  await folder?.remove();
});

describe.each([
  ["docs/import.md", 4],
  ["docs/operations.md", 10],
  ["docs/webhooks.md", 14],
])("the command lines of %s", (document, least) => {
  const lines = commandsOf(document);

  it("are found", () => {
    expect(lines.length).toBeGreaterThanOrEqual(least);
  });

  it.each(lines)("%s", async (line) => {
    const filled = Object.entries(placeholders).reduce(
      (text, [name, value]) => text.replace(name, value),
      line,
    );
    expect(await runInShell(filled, environment)).not.toBe("");
  });
});
