// The HTTP server while the rest of the program is loaded.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HttpServer, httpServer } from "../../../src/redirect/http/http-server.ts";

describe("the HTTP server", () => {
  let server: HttpServer;
  let url: string;
  beforeEach(async () => {
    server = httpServer((request, response) => {
      if (request.url !== "/abcdefg") return false;
      response.writeHead(301, { location: "https://example.com/" }).end();
      return true;
    });
    url = await server.listen({ port: 0, host: "127.0.0.1" });
  });
  afterEach(() => server.close());

  it("redirects before it has anything to pass other requests to, which wait", async () => {
    const waiting = fetch(`${url}/health/live`).then((answer) => answer.text());
    const redirect = await fetch(`${url}/abcdefg`, { redirect: "manual" });
    expect(redirect.status).toBe(301);
    server.passTo((_request, response) => response.end("passed on"));
    expect(await waiting).toBe("passed on");
    expect(await (await fetch(`${url}/other`)).text()).toBe("passed on");
  });

  it("drops the requests that wait when it is closed", async () => {
    const waiting = fetch(`${url}/health/live`);
    const dropped = expect(waiting).rejects.toThrow("fetch failed");
    // Answered after the waiting request has arrived, as both are accepted in order.
    await fetch(`${url}/abcdefg`, { redirect: "manual" });
    await server.close();
    await dropped;
  });

  it("tells which port is in use", async () => {
    const port = Number(new URL(url).port);
    await expect(httpServer(undefined).listen({ port, host: "127.0.0.1" })).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
  });
});
