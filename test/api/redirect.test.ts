// GET and HEAD /{slug} over the wire (interface, part 4): the complete response, byte for byte.

import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFastify } from "../../src/api/create-fastify.ts";
import { requestIds } from "../../src/api/request-id.ts";
import { Refused } from "../../src/commands/refusals.ts";
import type { LinkBlock } from "../../src/events/link-events.ts";
import type { LinkOptions, LinkRule } from "../../src/events/link-options.ts";
import { type LinkTarget, type RawHit, unpackTarget } from "../../src/redirect/clicks/hit.ts";
import { type RedirectDeps, redirectHandler } from "../../src/redirect/http/handler.ts";
import { httpServer } from "../../src/redirect/http/http-server.ts";
import { readForwarded, requesterOf, trustOf } from "../../src/redirect/http/requester.ts";
import { linkEntry } from "../../src/redirect/lookup/link-entry.ts";
import { visitReader } from "../../src/redirect/rules/visit.ts";
import { createLogger } from "../../src/runtime/logging.ts";

const NOW = 1_777_000_000_000;
const NOBODY = { found: 0, notFound: 0, disabled: 0, blocked: 0, expired: 0, asked: 0, error: 0 };
const MOVED =
  "HTTP/1.1 301 Moved Permanently\r\n" +
  "location: https://example.com/path?x=1#top\r\n" +
  "cache-control: private, max-age=0, must-revalidate\r\n" +
  "content-length: 0\r\nDate: now\r\nConnection: close\r\n\r\n";
const NOT_FOUND_BODY = '{"error":"Short link not found","code":"link_not_found","request_id":"id-1"}';
const NOT_FOUND =
  "HTTP/1.1 404 Not Found\r\nx-request-id: id-1\r\ncache-control: no-store\r\n" +
  "content-type: application/json; charset=utf-8\r\n" +
  `content-length: ${NOT_FOUND_BODY.length}\r\nDate: now\r\nConnection: close\r\n\r\n`;

const entry = (
  host: string,
  slug: string,
  more: { disabled?: boolean; block?: LinkBlock | null } & LinkOptions = {},
) =>
  linkEntry({
    ...{ host, slug, disabled: false, deleted: false, block: null, ...more },
    accountId: "7a6f3c1e-52b1-4f0e-9a54-2f6c1d7b8e90",
    longUrl: "https://example.com/path?x=1#top",
    via: "api",
    revision: 0,
  });

const block = { reason: "Phishing", since: "2026-03-01T10:00:00.000Z" };

const RULES: LinkRule[] = [
  { id: "a1b2c3d4e5f6", when: { query: [["rule", true]] }, url: "https://example.com/é?a=own#top" },
];
const LED =
  "HTTP/1.1 302 Found\r\n" +
  "location: https://example.com/%C3%A9?a=own&rule&b=%C3%A9%ff%25zz%0d%0a%3C%7B%7C%7D%3E#top\r\n" +
  "cache-control: no-store\r\ncontent-length: 0\r\nDate: now\r\nConnection: close\r\n\r\n";

/** The redirect handler on real sockets, with a few cached links; collects the recorded hits. */
async function start({ ipHeader, countryHeader }: { ipHeader?: string; countryHeader?: string } = {}) {
  const links = new Map([
    ["localhost/abcdefg", entry("localhost", "abcdefg")],
    ["localhost/docs", entry("localhost", "docs")],
    ["localhost/off", entry("localhost", "off", { disabled: true })],
    ["localhost/bad", entry("localhost", "bad", { block: { ...block, legal: false } })],
    ["localhost/law", entry("localhost", "law", { block: { ...block, legal: true } })],
    ["localhost/led", entry("localhost", "led", { rules: RULES, forwardQuery: true })],
    ["localhost/over", entry("localhost", "over", { rules: RULES, block: { ...block, legal: false } })],
    ["go.example/abcdefg", entry("go.example", "abcdefg")],
    ["go.example/docs", entry("go.example", "docs")],
  ]);
  const hits: (Omit<RawHit, "link"> & { link: LinkTarget })[] = [];
  const peek = (host: string, slug: string) => links.get(`${host}/${slug.toLowerCase()}`);
  const trust = trustOf(["127.0.0.1/32"]);
  const requester = requesterOf(trust, countryHeader);
  const deps: RedirectDeps = {
    lookup: { peek, find: async (host, slug) => peek(host, slug) },
    brands: { ofAccount: async () => undefined, ofHost: async () => undefined },
    recorder: {
      record: (hit) => {
        hits.push({ ...hit, link: unpackTarget(hit.link) });
        return undefined;
      },
    },
    admit: async (_link, _visit, record) => {
      await record();
      return "let in";
    },
    visitOf: visitReader("s".repeat(32)),
    countryOf: async () => "unknown",
    baseHost: "localhost",
    baseUrl: "http://localhost",
    now: () => NOW,
    stats: { ...NOBODY },
  };
  const logged: string[] = [];
  const log = createLogger("error", { write: (line) => void logged.push(line) });
  const requestIdOf = requestIds("id");
  // Read at each request, so that tests can change them.
  const handler = redirectHandler({
    ...{ ...deps, requester, requestIdOf, log },
    lookup: {
      peek: (host, slug) => deps.lookup.peek(host, slug),
      find: (host, slug) => deps.lookup.find(host, slug),
    },
    recorder: { record: (hit) => deps.recorder.record(hit) },
  });
  const app = createFastify({ log, requestIdOf, trust, showWindow: undefined });
  app.get("/docs", () => "ours");
  const slow = Promise.withResolvers<{ finish(): void }>();
  app.get("/answers/slowly", () => new Promise((resolve) => slow.resolve({ finish: () => resolve("done") })));
  app.get("/requester/seen", (request) => ({
    fastify: { host: request.host, address: request.ip },
    requester: { host: requester.host(request.raw), address: requester.address(request.raw) },
  }));
  await app.ready();
  const server = httpServer(handler, readForwarded(ipHeader));
  server.passTo(app.routing);
  const port = Number(new URL(await server.listen({ port: 0, host: "127.0.0.1" })).port);
  const close = () => Promise.all([server.close(), app.close()]);
  return { close, slow, port, hits, deps, logged };
}

/** Sends raw bytes and returns everything the server answers until it closes the connection. */
async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.setEncoding("utf8").on("data", (chunk) => (received += chunk));
  socket.write(text);
  await once(socket, "close");
  return received.replace(/^Date: .*$/gm, "Date: now");
}

function request(first: string, headers: Record<string, string> = {}): string {
  const all = { host: "localhost", connection: "close", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${first} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

describe("the redirect", () => {
  let server: Awaited<ReturnType<typeof start>>;
  beforeEach(async () => {
    server = await start();
  });
  afterEach(() => server.close());

  it.each([
    ["a link", request("GET /abcdefg"), {}],
    ["capitals and a query", request("GET /ABCdefg?qr=1&a=%20b?c"), { query: "qr=1&a=%20b?c" }],
    ["HEAD", request("HEAD /abcdefg"), { method: "HEAD" }],
    [
      "all headers that an event keeps",
      request("GET /abcdefg", {
        "user-agent": "Mozilla/5.0",
        referer: "https://news.example/",
        "accept-language": "de-AT,de;q=0.9",
        "sec-purpose": "prefetch;prerender",
      }),
      {
        ...{ userAgent: "Mozilla/5.0", referrer: "https://news.example/" },
        ...{ language: "de-AT,de;q=0.9", prefetch: "prefetch;prerender" },
      },
    ],
    [
      "a Referer in raw UTF-8",
      request("GET /abcdefg", { referer: "https://news.example/käse" }),
      { referrer: "https://news.example/käse" },
    ],
    [
      "a client behind a trusted proxy",
      request("GET /abcdefg", { "x-forwarded-for": "198.51.100.9, 203.0.113.7" }),
      { address: "203.0.113.7" },
    ],
    [
      "a client with its port, as some proxies name it",
      request("GET /abcdefg", { "x-forwarded-for": "198.51.100.9:1, 203.0.113.7:50123,127.0.0.1:80" }),
      { address: "203.0.113.7" },
    ],
    [
      "an IPv6 client with its port",
      request("GET /abcdefg", { "x-forwarded-for": "[2001:db8::7]:50123" }),
      { address: "2001:db8::7" },
    ],
    ["a proxy's host", request("GET /docs", { "x-forwarded-host": "evil.example, go.example" }), {}],
    ["a custom domain", request("GET /abcdefg", { host: "GO.example:8080" }), {}],
    ["a custom domain's slug that the base host keeps", request("GET /docs", { host: "go.example" }), {}],
    ["an encoded slug", request("GET /%61bcdefg"), {}],
    ["an address in absolute form", request("GET http://localhost/abcdefg?a=b"), { query: "a=b" }],
    ["a slash behind the slug", request("GET /abcdefg/?qr=1"), { query: "qr=1" }],
    ["an encoded query", request("GET /abcdefg%3Futm_source%3Dx"), { query: "utm_source=x" }],
    ["a body", `${request("GET /abcdefg", { "content-length": "4" })}body`, {}],
  ])(
    "answers %s with the same 301, which no cache may reuse unasked, and records it",
    async (_, text, hit) => {
      expect(await sendRaw(server.port, text)).toBe(MOVED);
      expect(server.hits).toMatchObject([{ at: NOW, ...hit }]);
      expect(server.deps.stats).toEqual({ ...NOBODY, found: 1 });
    },
  );

  it("answers a connection that is kept alive for each request", async () => {
    const twice = request("GET /abcdefg", { connection: "keep-alive" }) + request("GET /abcdefg");
    expect((await sendRaw(server.port, twice)).match(/^location: /gm)).toHaveLength(2);
    expect(server.hits).toHaveLength(2);
  });

  it.each([
    ["no link", "GET /nothing", {}, { notFound: 1 }],
    ["a name that is no slug", "GET /some.txt", {}, { notFound: 1 }],
    ["what can't be decoded", "GET /%zz", {}, { notFound: 1 }],
    ["an encoded slash", "GET /a%2Fb", {}, { notFound: 1 }],
    ["no link with a slash", "GET /nothing/", {}, { notFound: 1 }],
    ["a file of the base host on another", "GET /robots.txt", { host: "go.example" }, { notFound: 1 }],
    ["another host", "GET /abcdefg", { host: "other.example" }, { notFound: 1 }],
    ["no host", "GET /abcdefg", { host: "" }, { notFound: 1 }],
    ["a disabled link", "GET /off", {}, { disabled: 1 }],
  ])(
    "answers %s with 404, which no cache may keep, and records nothing",
    async (_, first, headers, counted) => {
      expect(await sendRaw(server.port, request(first, headers as Record<string, string>))).toBe(
        NOT_FOUND + NOT_FOUND_BODY,
      );
      expect(server.hits).toEqual([]);
      expect(server.deps.stats).toMatchObject({ found: 0, ...counted });
    },
  );

  it.each([
    ["404", "bad", "404 Not Found", "", "This short link is blocked"],
    [
      ...([
        "451 for a legal reason, which names who blocks",
        "law",
        "451 Unavailable For Legal Reasons",
      ] as const),
      ...([
        'link: <http://localhost>; rel="blocked-by"',
        "This short link is unavailable for legal reasons",
      ] as const),
    ],
  ])(
    "answers a blocked link with %s, and records nothing, as nobody is led on",
    async (_, slug, status, header, title) => {
      const page = await sendRaw(server.port, request(`GET /${slug}`, { accept: "text/html" }));
      expect(page).toContain(`HTTP/1.1 ${status}\r\n`);
      expect(page).toContain(header);
      expect(page).toContain(`<h1>${title}</h1>`);
      expect(page).toMatch(/^cache-control: no-store\r$/m);
      const head = await sendRaw(server.port, request(`HEAD /${slug}`));
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n[^]*\r\n\r\n$`));
      expect(page + head).not.toContain("Phishing");
      expect(server.hits).toEqual([]);
      expect(server.deps.stats).toMatchObject({ found: 0, blocked: 2 });
    },
  );

  it("answers HEAD of no link without a body, and a browser with a page", async () => {
    expect(await sendRaw(server.port, request("HEAD /nothing"))).toBe(NOT_FOUND);
    const page = await sendRaw(server.port, request("GET /nothing", { accept: "text/html,*/*" }));
    expect(page).toMatch(/^content-type: text\/html; charset=utf-8\r$/m);
    expect(page).toContain("<h1>Short link not found</h1>");
  });

  it("shows the caller's own request id in what is no redirect", async () => {
    const answer = await sendRaw(server.port, request("GET /nothing", { "x-request-id": "mine-7" }));
    expect(answer).toMatch(/^x-request-id: mine-7\r$/m);
    expect(answer).toContain('"request_id":"mine-7"');
  });

  it.each([
    ["a word of the base host", request("GET /docs")],
    ["two segments", request("GET /requester/seen")],
    ["a word of the base host with a slash", request("GET /docs/")],
    ["a file of the base host with a slash", request("GET /robots.txt/")],
    ["another method", request("POST /abcdefg", { "content-length": "0" })],
  ])("leaves %s to the framework", async (_, text) => {
    await sendRaw(server.port, text);
    expect(server.hits).toEqual([]);
    expect(server.deps.stats).toEqual(NOBODY);
  });

  it("leads by rules with whatever is in the query, and waits for the click as ever", async () => {
    const visit = request("GET /led?rule&a=1&b=%C3%A9%ff%zz%0d%0a<{|}>");
    expect(await sendRaw(server.port, visit)).toBe(LED);
    const { link } = server.hits[0] ?? {};
    expect(link).toMatchObject({ key: "localhost/led", rule: RULES[0]?.id, longUrl: RULES[0]?.url });
    let committed = false;
    server.deps.recorder.record = async () => {
      committed = true;
    };
    expect(await sendRaw(server.port, visit)).toBe(LED);
    expect(committed).toBe(true);
    server.deps.recorder.record = () => Promise.reject(new Refused("recorder_busy", "busy"));
    expect(await sendRaw(server.port, request("GET /led"))).toContain("HTTP/1.1 503 ");
  });

  it("answers that a link is blocked, whatever its rules", async () => {
    expect(await sendRaw(server.port, request("GET /over?rule"))).toContain('"code":"link_blocked"');
    expect(server.hits).toEqual([]);
  });

  it("answers after the commit where the recorder has to wait, and 503 rather than lose the click", async () => {
    let committed = false;
    server.deps.recorder.record = async () => {
      committed = true;
    };
    expect(await sendRaw(server.port, request("GET /abcdefg"))).toBe(MOVED);
    expect(committed).toBe(true);
    server.deps.recorder.record = () => Promise.reject(new Refused("recorder_busy", "busy"));
    const busy = await sendRaw(server.port, request("GET /abcdefg"));
    expect(busy).toMatch(/^HTTP\/1.1 503 Service Unavailable\r$/m);
    expect(busy).toMatch(/^retry-after: 1\r$/m);
    expect(busy).toContain('"code":"recorder_busy"');
    const page = await sendRaw(server.port, request("GET /abcdefg", { accept: "text/html" }));
    expect(page).toContain("please try again</h1>");
    expect(page).not.toContain("typing errors");
  });

  it.each([
    ["the stores are unavailable", () => Promise.reject(new Error("secret place"))],
    [
      "the program is wrong",
      () => {
        throw new Error("secret place");
      },
    ],
  ])("answers 503 when %s, says why in the log only, and goes on", async (_, find) => {
    const { peek } = server.deps.lookup;
    server.deps.lookup.peek = () => undefined;
    server.deps.lookup.find = find;
    const answer = await sendRaw(server.port, request("GET /abcdefg"));
    expect(answer).toMatch(/^HTTP\/1.1 503 /);
    expect(answer).not.toContain("secret");
    expect(JSON.parse(server.logged.join(""))).toMatchObject({
      request_id: "id-1",
      err: { message: "secret place" },
    });
    server.deps.lookup.peek = peek;
    expect(await sendRaw(server.port, request("GET /abcdefg"))).toBe(MOVED);
  });

  it.each([
    {},
    { "x-forwarded-for": "198.51.100.9" },
    { "x-forwarded-for": "198.51.100.9, 203.0.113.7,127.0.0.1" },
    { "x-forwarded-for": " , nonsense" },
    { "x-forwarded-for": "203.0.113.7:50123" },
    { "x-forwarded-host": "one.example, two.example" },
    { "x-forwarded-host": "" },
  ])("sees host and client as Fastify does, given %j", async (headers) => {
    const answer = await sendRaw(
      server.port,
      request("GET /requester/seen", headers as Record<string, string>),
    );
    const { fastify, requester } = JSON.parse(answer.split("\r\n\r\n")[1] ?? "");
    expect(requester).toEqual(fastify);
  });

  it("knows no client of a connection that is gone, and trusts none", () => {
    const gone = {
      headers: { "x-forwarded-for": "198.51.100.9", "x-forwarded-host": "a.example", "cf-ipcountry": "DE" },
      socket: {},
    };
    const requester = requesterOf(trustOf(["127.0.0.1/32"]));
    expect(requester.address(gone as never)).toBe("");
    expect(requesterOf(trustOf(["127.0.0.1/32"]), "cf-ipcountry").countryOf(gone as never)).toBe("");
    expect(requester.host(gone as never)).toBe("");
  });

  it("answers requests of connections that outlive the listening, and closes these", async () => {
    const socket = connect(server.port, "127.0.0.1").setEncoding("utf8");
    const answers: string[] = [];
    socket.on("data", (chunk) => answers.push(String(chunk)));
    // A request in flight holds the connection while the server closes.
    socket.write(request("GET /answers/slowly", { connection: "keep-alive" }));
    const { finish } = await server.slow.promise;
    const closed = server.close();
    socket.write(request("GET /abcdefg", { connection: "keep-alive" }));
    finish();
    await once(socket, "close");
    await closed;
    expect(answers.join("")).toMatch(/^HTTP\/1.1 200 [\s\S]*HTTP\/1.1 301 [\s\S]*^connection: close/im);
    expect(server.hits).toHaveLength(1);
  });
});

describe("behind a proxy that names the client in a header of its own", () => {
  const PROXY = "127.0.0.1";
  const IP_CASES: readonly (readonly [
    header: string,
    sent: Record<string, string | string[]>,
    address: string,
  ])[] = [
    ["CF-Connecting-IP", { "cf-connecting-ip": "203.0.113.7" }, "203.0.113.7"],
    ["X-Real-IP", { "x-real-ip": " 2001:db8::7 " }, "2001:db8::7"],
    ["True-Client-IP", { "true-client-ip": "203.0.113.7:50123" }, "203.0.113.7"],
    ["X-Real-IP", { "x-real-ip": "[2001:db8::7]:443" }, "2001:db8::7"],
    // The client's own X-Forwarded-For, which such a proxy may pass on.
    ["X-Real-IP", { "x-real-ip": "203.0.113.7", "x-forwarded-for": "198.51.100.9" }, "203.0.113.7"],
    ["X-Real-IP", { "x-forwarded-for": "198.51.100.9" }, PROXY],
    ["X-Real-IP", {}, PROXY],
    ...["", "unknown", "203.0.113.7, 198.51.100.9", "203.0.113.777", "fe80::1%eth0", "203.0.113.7:x"].map(
      (sent) => ["X-Real-IP", { "x-real-ip": sent, "x-forwarded-for": "198.51.100.9" }, PROXY] as const,
    ),
    // The client's and the proxy's: it can't be told which is which.
    ["X-Real-IP", { "x-real-ip": ["198.51.100.9", "203.0.113.7"] }, PROXY],
    ...(
      [
        ["for=203.0.113.7;proto=https;by=198.51.100.1", "203.0.113.7"],
        ['For="203.0.113.7:4711"', "203.0.113.7"],
        ['proto=https; for="[2001:db8:cafe::17]:4711" ; host=a', "2001:db8:cafe::17"],
        ['for="[2001:db8::1]"', "2001:db8::1"],
        ['for="203.0.113.7:_port"', "203.0.113.7"],
        ["for=198.51.100.9, for=203.0.113.7", "203.0.113.7"],
        ["for=203.0.113.7, for=127.0.0.1;by=x", "203.0.113.7"],
        // What the client sent can't hide or change what the proxy adds.
        ['for="198.51.100.9, for=203.0.113.7', "203.0.113.7"],
        ['garbage;;;="", , for=203.0.113.7', "203.0.113.7"],
        // Somebody unknown says who came before.
        ["for=198.51.100.9, for=_hidden", PROXY],
        ["for=198.51.100.9, for=unknown, for=127.0.0.1", PROXY],
        ["for=198.51.100.9, proto=https", PROXY],
        ["for=198.51.100.9;for=203.0.113.7", PROXY],
        ['host="x;for=198.51.100.9";for=203.0.113.7', PROXY],
        ["for=198.51.100.999", PROXY],
        ["xfor=198.51.100.9", PROXY],
        [`for=${" ".repeat(7_000)}"x`, PROXY],
        ["", PROXY],
      ] as const
    ).map(
      ([sent, address]) =>
        ["Forwarded", { forwarded: sent, "x-forwarded-for": "198.51.100.8" }, address] as const,
    ),
  ];

  it.each(IP_CASES)(
    "given %s, redirects and the API alike take %j as from %s",
    async (ipHeader, sent, address) => {
      const server = await start({ ipHeader });
      const lines = Object.entries(sent).flatMap(([name, values]) =>
        [values].flat().map((value) => `${name}: ${value}\r\n`),
      );
      const of = (path: string) =>
        `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${lines.join("")}\r\n`;
      const seen = JSON.parse((await sendRaw(server.port, of("/requester/seen"))).split("\r\n\r\n")[1] ?? "");
      expect([seen.fastify.address, seen.requester.address]).toEqual([address, address]);
      await sendRaw(server.port, of("/abcdefg"));
      expect(server.hits).toMatchObject([{ address }]);
      await server.close();
    },
  );

  it("takes nobody's word but a trusted proxy's", () => {
    const headers = { "x-real-ip": "203.0.113.7", "cf-ipcountry": "DE" };
    const stranger = { headers, socket: { remoteAddress: "192.0.2.1" } } as never;
    readForwarded("X-Real-IP")(headers);
    const requester = requesterOf(trustOf(["127.0.0.1/32"]), "CF-IPCountry");
    expect([requester.address(stranger), requester.countryOf(stranger)]).toEqual(["192.0.2.1", ""]);
    expect(requesterOf(false, "CF-IPCountry").countryOf(stranger)).toBe("");
  });

  it("records the country that it names, where that is one", async () => {
    const server = await start({ countryHeader: "CF-IPCountry" });
    const named = ["DE", " at ", "XK", "XX", "T1", "EU", "ZZ", "DEU", "DE, FR", ""];
    for (const country of named)
      await sendRaw(server.port, request("GET /abcdefg", { "cf-ipcountry": country }));
    await sendRaw(server.port, request("GET /abcdefg"));
    expect(server.hits.map(({ country }) => country)).toEqual(["DE", "AT", "XK", ...Array(8).fill("")]);
    await server.close();
  });
});
