// Safe Browsing: flagged URLs are refused; while it is unavailable links are created and rechecked later.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

/** Stands in for Google's service, with failures on demand. */
async function startLookup(state: {
  unsafe: Set<string>;
  unavailable: boolean;
  asked: string[][];
}): Promise<Server> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const lookup = JSON.parse(body) as { threatInfo: { threatEntries: { url: string }[] } };
    const urls = lookup.threatInfo.threatEntries.map(({ url }) => url);
    state.asked.push(urls);
    const matches = urls
      .filter((url) => state.unsafe.has(url))
      .map((url) => ({ threatType: "MALWARE", threat: { url } }));
    response.statusCode = state.unavailable || request.headers["x-goog-api-key"] !== "the key" ? 503 : 200;
    response.end(JSON.stringify(matches.length > 0 ? { matches } : {}));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

describe("Safe Browsing", () => {
  const url = "https://later.example/offer";
  const state = { unsafe: new Set<string>(), unavailable: false, asked: [] as string[][] };
  let folder: TemporaryFolder;
  let lookup: Server;
  let service: TestService;

  const start = () => {
    const { port } = lookup.address() as { port: number };
    return startTestService({
      DATA_DIR: folder.path,
      SAFE_BROWSING_KEY: "the key",
      SAFE_BROWSING_URL: `http://127.0.0.1:${port}/v4/threatMatches:find`,
    });
  };
  beforeEach(async () => {
    state.unsafe.clear();
    state.unavailable = false;
    state.asked = [];
    folder = await temporaryFolder();
    lookup = await startLookup(state);
    service = await start();
  });
  afterEach(async () => {
    await service.stop();
    lookup.close();
    await folder.remove();
  });

  it("keeps unsafe addresses out", async () => {
    const { key } = await service.member("free");
    state.unsafe.add(url);
    expect((await service.post("/api/v1/shorten", key, { url })).status).toBe(400);
    const other = await service.post("/api/v1/shorten", key, { url: `${url}/other` });
    expect(other.status).toBe(201);
  });

  it("is asked once about all links of a bulk request, each address once", async () => {
    const { key } = await service.member("developer");
    state.unsafe.add(`${url}/2`).add(`${url}/5`);
    const links: object[] = Array.from({ length: 97 }, (_, n) => ({ url: `${url}/${n % 10}` }));
    links.push({ url: "nope" }, { other: true }, { url: "http://localhost/loop" });
    const bulk = () =>
      service.post<{ created: number; errors: { index: number; code: string }[] }>(
        "/api/v1/shorten/bulk",
        key,
        { links },
      );
    const { status, body } = await bulk();
    expect([status, body.created]).toEqual([201, 77]);
    const unsafe = body.errors.filter(({ code }) => code === "unsafe_url").map(({ index }) => index % 10);
    expect([unsafe.length, new Set(unsafe)]).toEqual([20, new Set([2, 5])]);
    expect(state.asked.map((urls) => urls.toSorted())).toEqual([
      Array.from({ length: 10 }, (_, n) => `${url}/${n}`),
    ]);

    state.unavailable = true;
    expect((await bulk()).body.created).toBe(97);
    expect(state.asked).toHaveLength(2);
    const waiting = await service.backend.secrets.list("url-check:", new Date());
    expect(waiting).toHaveLength(97);
  });

  it("is asked once about all addresses of a link, and of links that are changed", async () => {
    const { key } = await service.member("developer");
    const to = (name: string) => `${url}/${name}`;
    const rules = [{ when: { os: "iOS" }, url: to("rule") }];
    const made = await service.post<{ slug: string }>("/api/v1/shorten", key, {
      ...{ url, rules, expired_url: to("over") },
    });
    expect([made.status, state.asked]).toEqual([201, [[url, to("over"), to("rule")]]]);
    state.unsafe.add(to("bad"));
    const refused = await service.ask<{ error: string; code: string }>(`/api/v1/links/${made.body.slug}`, {
      ...{ method: "PATCH", key },
      body: { url: to("good"), rules: [...rules, { when: { os: "iOS" }, url: to("bad") }] },
    });
    expect([refused.status, refused.body.code]).toEqual([400, "unsafe_url"]);
    expect(refused.body.error).toContain("rules.1.url");
    expect(state.asked[1]).toEqual([to("good"), to("rule"), to("bad")]);
    const many = Array.from({ length: 30 }, (_, item) => ({
      slug: made.body.slug,
      rules: Array.from({ length: 20 }, (_, n) => ({ when: { os: "iOS" }, url: to(`${item}-${n}`) })),
    }));
    const bulk = await service.ask<{ updated: number }>("/api/v1/links/bulk", {
      ...{ method: "PATCH", key, body: { links: many } },
    });
    expect(bulk.body.updated).toBe(30);
    // As many as Safe Browsing takes.
    expect(state.asked.slice(2).map((urls) => urls.length)).toEqual([500, 100]);
  });

  it("being unavailable stops nobody, and what was unsafe is disabled once it is back", async () => {
    const { key } = await service.member("free");
    state.unavailable = true;
    const made = await service.post<{ slug: string }>("/api/v1/shorten", key, { url });
    const other = await service.post<{ slug: string }>("/api/v1/shorten", key, { url: `${url}/other` });
    expect([made.status, other.status]).toEqual([201, 201]);
    expect((await service.ask(`/${made.body.slug}`)).status).toBe(301);

    state.unavailable = false;
    state.unsafe.add(url);
    // The first recheck runs at the start.
    await service.stop();
    service = await start();
    await expect
      .poll(async () => (await service.ask(`/${made.body.slug}`)).status, { timeout: 30_000 })
      .toBe(404);
    expect((await service.ask(`/${other.body.slug}`)).status).toBe(301);
    expect(service.logged.join("")).toContain("turned out to be unsafe");
  });
});
