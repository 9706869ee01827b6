// The redirect's short way past the framework: nobody may be able to tell it from the route (interface, part 4).
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFastify } from "../../src/api/create-fastify.ts";
import { createLogger } from "../../src/logging.ts";
import { type Hit, type RawHit, unpackTarget } from "../../src/redirect/hit.ts";
import { linkEntry } from "../../src/redirect/link-entry.ts";
import { redirectAtOnce } from "../../src/redirect/redirect-at-once.ts";
import { requesterOf, trustOf } from "../../src/redirect/requester.ts";
import { redirectRoute, slugAnswer } from "../../src/redirect/route.ts";

const entry = (host: string, slug: string, status: "live" | "disabled" = "live") =>
  linkEntry({
    ...{ host, slug, status },
    accountId: "7a6f3c1e-52b1-4f0e-9a54-2f6c1d7b8e90",
    longUrl: "https://example.com/path?x=1#top",
    shortUrl: `http://${host}/${slug}`,
    via: "api",
    revision: 0,
  });

/** One service with the short way and one without; each keeps the hits that were recorded. */
async function start(withShortWay: boolean) {
  const links = new Map([
    ["localhost/abcdefg", entry("localhost", "abcdefg")],
    ["localhost/docs", entry("localhost", "docs")],
    ["localhost/off", entry("localhost", "off", "disabled")],
    ["go.example/abcdefg", entry("go.example", "abcdefg")],
  ]);
  const hits: Hit[] = [];
  const ways = { short: 0, route: 0 };
  const state = { takes: true, throws: false };
  const take = (hit: RawHit) => void hits.push({ ...hit, link: unpackTarget(hit.link) });
  const peek = (host: string, slug: string) => links.get(`${host}/${slug.toLowerCase()}`);
  const trust = trustOf(["127.0.0.1/32"]);
  const deps = {
    lookup: { peek, find: async (host: string, slug: string) => peek(host, slug) },
    recorder: {
      recordAtOnce(hit: RawHit) {
        if (state.throws) throw new Error("a mistake");
        if (!state.takes) return false;
        ways.short++;
        take(hit);
        return true;
      },
      record(hit: RawHit) {
        ways.route++;
        take(hit);
        return undefined;
      },
    },
    requester: requesterOf(trust),
    baseHost: "localhost",
    now: () => 1_777_000_000_000,
    stats: { found: 0, notFound: 0, disabled: 0, error: 0 },
  };
  const log = createLogger("silent", { write: () => undefined });
  const answersAtOnce = withShortWay ? redirectAtOnce(deps) : undefined;
  const app = createFastify({ log, newId: () => "id", trust, showWindow: undefined, answersAtOnce });
  app.get("/docs", () => "ours");
  app.get("/who/asks", (request) => ({
    fastify: { host: request.host, address: request.ip },
    requester: { host: deps.requester.host(request.raw), address: deps.requester.address(request.raw) },
  }));
  redirectRoute(app as never, slugAnswer(deps));
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as { port: number };
  return { app, port, hits, ways, state, stats: deps.stats };
}

type Started = Awaited<ReturnType<typeof start>>;

/** Everything the server says to these bytes, until it closes the connection. */
async function say(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let said = "";
  socket.setEncoding("utf8").on("data", (chunk) => (said += chunk));
  socket.write(text);
  await once(socket, "close");
  return said.replace(/^Date: .*$/m, "Date: now");
}

function request(first: string, headers: Record<string, string> = {}): string {
  const all = { host: "localhost", connection: "close", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${first} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

const SAME: [string, string][] = [
  ["a link", request("GET /abcdefg")],
  ["a link in capitals, with a query", request("GET /ABCdefg?qr=1&a=%20b?c")],
  ["HEAD", request("HEAD /abcdefg")],
  [
    "all headers that an event keeps",
    request("GET /abcdefg", {
      "user-agent": "Mozilla/5.0 ünïcode",
      referer: "https://news.example/",
      "accept-language": "de-AT,de;q=0.9",
      "sec-purpose": "prefetch;prerender",
    }),
  ],
  [
    "a client behind a trusted proxy",
    request("GET /abcdefg", { "x-forwarded-for": "198.51.100.9, 203.0.113.7" }),
  ],
  ["a proxy's host", request("GET /abcdefg", { "x-forwarded-host": "evil.example, go.example" })],
  ["a custom domain", request("GET /abcdefg", { host: "GO.example:8080" })],
  ["another host", request("GET /abcdefg", { host: "other.example" })],
  ["no Host header", "GET /abcdefg HTTP/1.0\r\n\r\n"],
  ["an encoded slug", request("GET /%61bcdefg")],
  ["a slash too many", request("GET /abcdefg/")],
  ["an absolute address", request("GET http://localhost/abcdefg")],
  ["a disabled link", request("GET /off")],
  ["no link", request("GET /nothing")],
  ["a path of ours", request("GET /docs")],
  ["another method", request("POST /abcdefg", { "content-length": "0" })],
  ["a body", `${request("GET /abcdefg", { "content-length": "4" })}body`],
  [
    "a connection kept alive",
    request("GET /abcdefg", { connection: "keep-alive" }) + request("GET /abcdefg"),
  ],
];

describe("the redirect's short way", () => {
  let short: Started;
  let route: Started;
  beforeEach(async () => {
    [short, route] = [await start(true), await start(false)];
  });
  afterEach(() => Promise.all([short.app.close(), route.app.close()]));

  it.each(SAME)("answers and records %s as the route does", async (_, text) => {
    expect(await say(short.port, text)).toBe(await say(route.port, text));
    expect(short.hits).toEqual(route.hits);
    expect(short.stats).toEqual(route.stats);
  });

  it.each([
    {},
    { "x-forwarded-for": "198.51.100.9" },
    { "x-forwarded-for": "198.51.100.9, 203.0.113.7,127.0.0.1" },
    { "x-forwarded-for": " , nonsense" },
    { "x-forwarded-host": "one.example, two.example" },
    { "x-forwarded-host": "" },
  ])("sees host and client as Fastify does, given %j", async (headers) => {
    const answer = await say(short.port, request("GET /who/asks", headers as Record<string, string>));
    const { fastify, requester } = JSON.parse(answer.split("\r\n\r\n")[1] ?? "");
    expect(requester).toEqual(fastify);
  });

  it("is taken by a live link, and by nothing else", async () => {
    expect(await say(short.port, request("GET /abcdefg?x"))).toMatch(
      /^HTTP\/1.1 301 Moved Permanently\r\nlocation: /,
    );
    expect(short.ways).toEqual({ short: 1, route: 0 });
    for (const path of ["/docs", "/off", "/nothing"]) await say(short.port, request(`GET ${path}`));
    expect(short.ways).toEqual({ short: 1, route: 0 });
  });

  it("leaves a request over which it stumbles to the route, and the process goes on", async () => {
    short.state.throws = true;
    expect(await say(short.port, request("GET /abcdefg"))).toMatch(/^HTTP\/1.1 301 /);
    expect(short.ways).toEqual({ short: 0, route: 1 });
  });

  it("knows no client of a connection that is gone, and trusts none", () => {
    const gone = {
      headers: { "x-forwarded-for": "198.51.100.9", "x-forwarded-host": "a.example" },
      socket: {},
    };
    const requester = requesterOf(trustOf(["127.0.0.1/32"]));
    expect(requester.address(gone as never)).toBe("");
    expect(requester.host(gone as never)).toBe("");
  });

  it("leaves a click that has to wait to the route, which records it once", async () => {
    short.state.takes = false;
    expect(await say(short.port, request("GET /abcdefg"))).toMatch(/^HTTP\/1.1 301 /);
    expect(short.ways).toEqual({ short: 0, route: 1 });
    expect(short.hits).toHaveLength(1);
  });

  it("leaves connections that outlive the listening to Fastify, which closes them", async () => {
    const socket = connect(short.port, "127.0.0.1").setEncoding("utf8");
    const answers: string[] = [];
    socket.on("data", (chunk) => answers.push(String(chunk)));
    // Half of a request holds the connection while the server closes.
    socket.write("GET /abcdefg HTTP/1.1\r\n");
    await once(short.app.server, "connection");
    const closed = short.app.close();
    while (short.app.server.listening) await new Promise((resolve) => setImmediate(resolve));
    socket.write("host: localhost\r\n\r\n");
    await once(socket, "close");
    await closed;
    expect(answers.join("")).toMatch(/^connection: close/im);
    expect(short.ways.short).toBe(0);
  });
});
