// linkledger key issue, list and rotate, beside a running service.
import { afterAll, beforeAll, expect, it } from "vitest";
import { commandLine } from "../../support/service/command-line.ts";
import { type Member, startTestService, type TestService } from "../../support/service/start-service.ts";

let service: TestService;
let member: Member;
let cli: ReturnType<typeof commandLine>;

beforeAll(async () => {
  service = await startTestService();
  member = await service.member("developer");
  cli = commandLine(service.config.dataDir);
}, 60_000);
afterAll(() => service.stop());

const status = async (key: string, path: string) => (await service.ask(path, { key })).status;

it("issues a key with bounds, lists them, and rotates it", { timeout: 60_000 }, async () => {
  const bounds = ["--scopes", "links:read, events:read", "--networks", "127.0.0.1,::1"];
  const { key, key_id } = await cli.json(
    ...["key", "issue", "--account", member.accountId, "--expires-at", "2090-01-01", ...bounds],
  );
  const paths = ["/api/v1/links", "/api/v1/events", "/api/v1/analytics/nosuch0"];
  expect(await Promise.all(paths.map((path) => status(key, path)))).toEqual([200, 200, 403]);
  const rotated = await cli.json("key", "rotate", key_id, "--overlap-hours", "0");
  expect(await status(rotated.key, "/api/v1/links")).toBe(200);
  await expect.poll(() => status(key, "/api/v1/links")).toBe(401);
  const { keys } = await cli.json("key", "list", "--account", member.accountId);
  expect(keys).toMatchObject([
    {
      ...{ key_id: member.keyId, status: "active", expires_at: null, networks: null },
      scopes: ["links:read", "links:write", "analytics:read", "analytics:share", "events:read"],
    },
    {
      ...{ key_id, status: "active", scopes: ["links:read", "events:read"] },
      ...{ expires_at: "2090-01-01T00:00:00.000Z", networks: ["127.0.0.1/32", "::1/128"] },
      ...{ hint: rotated.key.slice(-4), earlier: [] },
    },
  ]);
});

it("names what is wrong with a bound", { timeout: 60_000 }, async () => {
  const issue = (...options: string[]) =>
    cli.refused("key", "issue", "--account", member.accountId, ...options);
  expect(await issue("--scopes", "links")).toContain("links is no scope: there are links:read");
  expect(await issue("--networks", "example.com")).toContain("example.com is no network");
  expect(await issue("--expires-at", "2020-01-01")).toContain("A key must expire at a time to come");
  expect(await cli.refused("key", "rotate", member.keyId, "--overlap-hours", "721")).toContain(
    "at most 720 hours",
  );
  expect(await cli.refused("key", "rotate", "nosuch")).toContain("API key not found");
});
