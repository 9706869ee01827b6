// What people and programs meet through a real Caddy with the shipped Caddyfile: certificates for custom domains by
// themselves, and answers of the API as the service gave them.
import { request as httpsRequest } from "node:https";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/runtime/until.ts";
import { caddy, startCaddy, type TestCaddy } from "../support/servers/caddy-server.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

const SECRET = "a-secret-of-the-proxy";
/** Long enough for an answer that is worth encoding. */
const LONG_URL = `https://example.com/${"a".repeat(600)}`;

onServer(caddy, () => {
  let service: TestService;
  let proxy: TestCaddy;

  beforeAll(async () => {
    service = await startTestService({ TRUST_PROXY: "127.0.0.1/32", TLS_ASK_SECRET: SECRET });
    proxy = await startCaddy(`127.0.0.1:${service.port}`, "http://localhost", SECRET);
  });
  afterAll(async () => {
    await proxy.stop();
    await service.stop();
  });

  describe("programs behind Caddy", () => {
    let url: string;
    let headers: Record<string, string>;

    beforeAll(async () => {
      const { key } = await service.member("developer");
      url = `http://localhost:${proxy.httpPort}`;
      headers = { "x-api-key": key, "content-type": "application/json", "accept-encoding": "gzip" };
    });

    const post = (path: string, body: object) =>
      fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    const create = async () =>
      (await (await post("/api/v1/shorten", { url: LONG_URL })).json()) as { slug: string };

    it("change a link by the ETag that they read, though they take encoded answers", async () => {
      const path = `/api/v1/links/${(await create()).slug}`;
      const read = await fetch(url + path, { headers });
      const etag = read.headers.get("etag") ?? "";
      expect([read.headers.get("content-encoding"), etag]).toEqual([null, '"0"']);
      const change = (title: string) =>
        fetch(url + path, {
          method: "PATCH",
          headers: { ...headers, "if-match": etag },
          body: JSON.stringify({ title }),
        });
      expect((await change("first")).status).toBe(200);
      expect((await change("second")).status).toBe(412);
    });

    it("get long lists and documents encoded, and an image as it is", async () => {
      const { slug } = await create();
      const encoding = async (path: string) => {
        const response = await fetch(url + path, { headers });
        expect(response.status).toBe(200);
        await response.arrayBuffer();
        return response.headers.get("content-encoding");
      };
      expect(await encoding("/api/v1/links")).toBe("gzip");
      expect(await encoding("/openapi.json")).toBe("gzip");
      expect(await encoding(`/api/qr/${slug}`)).toBeNull();
    });
  });

  describe("custom domains behind Caddy", () => {
    beforeAll(async () => {
      const { accountId, key } = await service.member("developer");
      const domain_id = await service.domain(accountId, "go.example.com");
      await service.domain(accountId, "waiting.example.com", { verify: false });
      const body = { url: "https://example.com/launch", customSlug: "launch", domain_id };
      expect((await service.post("/api/v1/shorten", key, body)).status).toBe(201);
      const ask = () => service.ask("/internal/tls/ask?domain=go.example.com");
      await until("a certificate to be allowed", async () => (await ask()).status === 200);
    });

    it("get a certificate at their first visit and redirect over HTTPS", async () => {
      const first = await visit(proxy.httpsPort, "go.example.com", "/launch", undefined);
      expect(first.subjects).toContain("DNS:go.example.com");
      const trusted = await visit(proxy.httpsPort, "go.example.com", "/launch", await proxy.authority());
      expect(trusted).toMatchObject({ status: 301, location: "https://example.com/launch" });
    });

    it.each(["waiting.example.com", "unknown.example.com"])(
      "get none when %s is not verified",
      async (name) => {
        await expect(visit(proxy.httpsPort, name, "/launch", undefined)).rejects.toThrow(
          /alert|reset|disconnected/i,
        );
      },
    );

    it("leave the question about certificates to the proxy alone", async () => {
      const path = `/internal/tls/ask?domain=go.example.com`;
      const { status } = await visit(proxy.httpsPort, "go.example.com", path, undefined);
      expect(status).toBe(403);
    });
  });
});

/** Over TLS to loopback with the name as SNI and Host; any certificate will do without `authority`. */
function visit(port: number, name: string, path: string, authority: string | undefined) {
  return new Promise<{ status: number; location: string | undefined; subjects: string }>(
    (resolve, reject) => {
      const trust = authority === undefined ? { rejectUnauthorized: false } : { ca: authority };
      const request = httpsRequest({
        ...{ host: "127.0.0.1", port, path, servername: name, headers: { host: name }, agent: false },
        ...trust,
      });
      let subjects = "";
      request.on("socket", (socket) => {
        socket.on("secureConnect", () => {
          if ("getPeerCertificate" in socket && typeof socket.getPeerCertificate === "function")
            subjects = String(socket.getPeerCertificate().subjectaltname);
        });
      });
      request.on("error", reject);
      request.on("response", (response) => {
        response.resume();
        response.on("end", () => {
          const { statusCode: status = 0, headers } = response;
          resolve({ status, location: headers.location, subjects });
        });
      });
      request.end();
    },
  );
}
