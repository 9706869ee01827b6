// Which routes answer on which host, over real HTTP.
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../support/service/start-service.ts";

describe("hosts", () => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startTestService();
    const developer = await service.member("developer");
    key = developer.key;
    const domain_id = await service.domain(developer.accountId, "own.example.org");
    await service.post("/api/v1/shorten", key, {
      url: "https://example.com/",
      domain_id,
      customSlug: "here",
    });
  });
  afterAll(() => service.stop());

  it.each([
    "localhost",
    "localhost:8080",
    "127.0.0.1",
    "127.0.0.1:3000",
    "[::1]:3000",
    "LOCALHOST",
    "api.localhost",
  ])(
    "answers the API, the docs and the root on the loopback name %s when the base host is one",
    async (host) => {
      for (const path of ["/api/v1/links", "/docs", "/openapi.json", "/", "/robots.txt", "/favicon.ico"])
        expect([path, (await service.ask(path, { host, key })).status]).toEqual([path, 200]);
    },
  );

  it.each(["own.example.org", "unknown.example.org"])(
    "answers 404 to API, docs and metrics on %s",
    async (host) => {
      for (const path of ["/api/v1/links", "/docs", "/openapi.json", "/metrics", "/api/qr/here", "/a/b"]) {
        const { status, body } = await service.ask(path, { host, key });
        expect([path, status, typeof body.error]).toEqual([path, 404, "string"]);
      }
    },
  );

  it("answers 404 to the root of an unknown host", async () => {
    expect((await service.ask("/", { host: "unknown.example.org" })).status).toBe(404);
  });

  it("serves a custom domain's slugs there and nowhere else", async () => {
    expect((await service.ask("/here", { host: "own.example.org:443" })).status).toBe(301);
    for (const host of ["localhost", "unknown.example.org"])
      expect((await service.ask("/here", { host })).status).toBe(404);
  });

  it.each(["localhost", "own.example.org", "unknown.example.org", "10.1.2.3"])(
    "answers /health on %s",
    async (host) => {
      for (const path of ["/health/live", "/health/ready"])
        expect((await service.ask(path, { host })).status).toBe(200);
    },
  );

  it.each([
    ["two Host headers", "/here", ["own.example.org", "localhost"], 400],
    ["the same Host twice", "/here", ["own.example.org", "own.example.org"], 400],
    ["no Host", "/here", [], 400],
    ["an absolute target of another host", "http://own.example.org/here", ["localhost"], 400],
    [
      "an absolute target with a name before the host",
      "http://own.example.org@localhost/here",
      ["localhost"],
      400,
    ],
    ["an absolute target of the same host", "http://Own.example.org:80/here", ["own.example.org"], 301],
  ])("answers %s as RFC 9112 says", async (_, target, hosts, status) => {
    const socket = connect(service.port, "127.0.0.1");
    const headers = hosts.map((host) => `Host: ${host}\r\n`).join("");
    socket.write(`GET ${target} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
    const [head] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    expect(head.toString().split(" ")[1]).toBe(String(status));
  });
});
