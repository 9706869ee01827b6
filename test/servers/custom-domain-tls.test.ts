// Certificates for custom domains by a real Caddy with the shipped Caddyfile (the portal's promise: TLS by itself).
import { request as httpsRequest } from "node:https";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/runtime/until.ts";
import { caddy, startCaddy, type TestCaddy } from "../support/servers/caddy-server.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

const SECRET = "a-secret-of-the-proxy";

onServer(caddy, () => {
  describe("custom domains behind Caddy", () => {
    let service: TestService;
    let proxy: TestCaddy;

    beforeAll(async () => {
      service = await startTestService({ TRUST_PROXY: "127.0.0.1/32", TLS_ASK_SECRET: SECRET });
      const baseUrl = "http://localhost";
      proxy = await startCaddy(`127.0.0.1:${service.port}`, baseUrl, SECRET);
      const { accountId, key } = await service.member("developer");
      const domain_id = await service.domain(accountId, "go.example.com");
      await service.domain(accountId, "waiting.example.com", { verify: false });
      const body = { url: "https://example.com/launch", customSlug: "launch", domain_id };
      expect((await service.post("/api/v1/shorten", key, body)).status).toBe(201);
      const ask = () => service.ask("/internal/tls/ask?domain=go.example.com");
      await until("a certificate to be allowed", async () => (await ask()).status === 200);
    });
    afterAll(async () => {
      await proxy.stop();
      await service.stop();
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
