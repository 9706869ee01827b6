// Without SECRET_KEY, the files of a data folder or of a backup reveal no e-mail address and no webhook key.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readWebhookKeys } from "../../../src/commands/webhooks/webhook-key.ts";
import { openBackend } from "../../../src/service/stores/backend.ts";
import { bytesIn, testDataFolder } from "../../support/data-folder/test-data-folder.ts";
import type { TestService } from "../../support/service/start-service.ts";

const EMAIL = "member-1@example.com";
const FIRST = { SECRET_KEY: "the first secret key of this service" };
const SECOND = { SECRET_KEY: "the second secret key of this service" };

describe("secrets at rest", () => {
  const { dataDir, start, cli, backUp } = testDataFolder();

  it("can't be read in any file of the data folder, nor of a backup, and are there for who has the key", async () => {
    const service = await start();
    const { accountId } = await service.member("developer");
    const { webhook_id, key } = await addWebhook(accountId);
    const backup = await backUp();
    for (const place of [dataDir(), backup]) {
      const text = await bytesIn(place);
      const readable = [EMAIL, key, key.slice(4), digest(EMAIL)].filter((secret) => text.includes(secret));
      expect(readable).toEqual([]);
    }
    await service.stop();
    expect(await emails({}, backup)).toEqual([EMAIL]);
    expect(await webhookKey(backup, undefined, webhook_id)).toBe(key);
  });

  it("go over to a new SECRET_KEY while the service runs, and are closed to the old one", async () => {
    const old = await start(FIRST);
    const { accountId, key: apiKey } = await old.member("developer");
    const { webhook_id, key } = await addWebhook(accountId, FIRST);
    expect((await shorten(old, apiKey)).status).toBe(201);
    await old.stop();

    const during = { ...SECOND, SECRET_KEY_PREVIOUS: FIRST.SECRET_KEY };
    const service = await start(during);
    await cli(during).json("secrets", "rotate");
    expect(await cli(during).json("secrets", "rotate")).toEqual({ reencrypted: 0 });
    expect((await shorten(service, apiKey)).headers["idempotency-replayed"]).toBe("true");
    await service.stop();

    expect(await emails(SECOND)).toEqual([EMAIL]);
    expect(await webhookKey(dataDir(), SECOND.SECRET_KEY, webhook_id)).toBe(key);
    expect(await cli(FIRST).refused("secrets", "rotate")).toMatch(/another SECRET_KEY/);
    await expect(start(FIRST)).rejects.toMatchObject({ code: "secret_key_unknown" });
  });

  it("are destroyed by the running service when they have expired", async () => {
    const backend = await openBackend({ dataDir: dataDir() });
    const [expired, kept] = ["token/password/1", "token/password/2"];
    await backend.secrets.put(expired, { value: "expired", expiresAt: "2026-03-01T00:00:00.000Z" });
    await backend.secrets.put(kept, { value: "kept" });
    await backend.close();
    const left = async () => {
      const text = await bytesIn(dataDir());
      return [expired, kept].filter((name) => text.includes(name));
    };
    expect(await left()).toEqual([expired, kept]);
    const service = await start();
    await expect.poll(left).toEqual([kept]);
    await service.stop();
  });

  async function addWebhook(
    accountId: string,
    environment = {},
  ): Promise<{ webhook_id: string; key: string }> {
    const url = "https://receiver.example.com/hook";
    return await cli(environment).json("webhook", "add", "--account", accountId, "--url", url);
  }

  async function emails(environment = {}, place = dataDir()): Promise<string[]> {
    const service = await start({ ...environment, DATA_DIR: place });
    const { json, refused } = cli(environment, place);
    expect(await refused("account", "create", "--email", EMAIL.toUpperCase())).toContain("already");
    const { accounts } = await json("account", "list");
    await service.stop();
    return accounts.map(({ email }: { email: string }) => email);
  }

  function shorten(service: TestService, key: string) {
    const headers = { "idempotency-key": "one" };
    return service.post("/api/v1/shorten", key, { url: "https://example.com/" }, { headers });
  }
});

async function webhookKey(dataDir: string, secretKey: string | undefined, webhookId: string) {
  const backend = await openBackend({ dataDir, secretKey });
  const keys = await readWebhookKeys(backend.secrets, webhookId, new Date());
  await backend.close();
  return keys?.key;
}

function digest(email: string): string {
  return createHash("sha256").update(email).digest("hex");
}
