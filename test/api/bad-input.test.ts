// Any malformed request gets a 4xx with the error object, never a 500, and writes nothing (interface, part 7).
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writtenBy } from "../support/portal/written-by.ts";
import type { Ask } from "../support/service/ask.ts";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";

const url = "https://example.com/";
const OPERATORS = [
  { $gt: "" },
  { $ne: null },
  { $where: "sleep(1000)" },
  ["https://example.com"],
  7,
  true,
  null,
];
const SQL = ["' OR '1'='1", '"; DROP TABLE events; --', "1) UNION SELECT 1", "%' AND 1=1 --"];

describe("part 7, bad input", () => {
  let service: TestService;
  let developer: Member;
  let neighbour: Member;

  beforeAll(async () => {
    service = await startTestService();
    developer = await service.member("developer");
    neighbour = await service.member("free");
  });
  afterAll(() => service.stop());

  /** Only the caller's events, because other tests write to a shared event store. */
  const written = (after: string) => writtenBy(service.backend.eventStore, [developer.accountId], after);

  /** Checks that the answer is an error object and that nothing was written for the caller; returns the status. */
  async function refused(path: string, ask: Ask): Promise<number> {
    const before = await service.backend.eventStore.head();
    const { status, body, text } = await service.ask(path, { key: developer.key, ...ask });
    const about = `${ask.method ?? "GET"} ${path.slice(0, 80)} ${JSON.stringify(ask.body)?.slice(0, 80)}: ${text.slice(0, 200)}`;
    expect(status, about).toBeGreaterThanOrEqual(400);
    expect(status, about).toBeLessThan(500);
    expect(body, about).toMatchObject({ error: expect.any(String), code: expect.any(String) });
    expect(Object.keys(body).sort(), about).toEqual(["code", "error", "request_id"]);
    expect(text, about).not.toMatch(/node_modules|\bat .*\.ts:\d/);
    expect(await written(before), about).toEqual([]);
    return status;
  }
  const post = (body: unknown, more: Ask = {}) =>
    refused("/api/v1/shorten", { method: "POST", body, ...more });

  it.each([
    "",
    "{",
    '{"url":',
    "url=https://example.com",
    "\u0000",
    '{"url":"https://example.com"}x',
    "NaN",
    "[[[[",
  ])("answers 400 to malformed JSON %j", async (body) => expect(await post(body)).toBe(400));

  it.each(["null", "[]", '[{"url":"https://example.com"}]', '"https://example.com"', "7", "true"])(
    "answers 400 to the JSON value %s in place of an object",
    async (body) => expect(await post(body)).toBe(400),
  );

  it("answers 400 to a POST without any body", async () => {
    expect(await refused("/api/v1/shorten", { method: "POST" })).toBe(400);
    expect(await refused("/api/v1/shorten/bulk", { method: "POST" })).toBe(400);
    const empty = { method: "POST", headers: { "content-type": "application/json", "content-length": "0" } };
    expect(await refused("/api/v1/shorten", empty)).toBe(400);
  });

  it("answers 400 to wrong types and query operators in every field", async () => {
    for (const value of OPERATORS) {
      expect(await post({ url: value })).toBe(400);
      expect(await post({ url, customSlug: value })).toBe(400);
      expect(await post({ url, domain_id: value })).toBe(400);
      expect(
        await refused("/api/v1/shorten/bulk", {
          method: "POST",
          body: { links: value === null ? null : { value } },
        }),
      ).toBe(400);
    }
  });

  it("answers 400 to a missing url, unknown fields and poisoned prototypes", async () => {
    expect(await post({})).toBe(400);
    expect(await post({ url, shortUrl: "x" })).toBe(400);
    expect(await post({ url, customslug: "abc" })).toBe(400);
    expect(await post('{"url":"https://example.com/","__proto__":{"tier":"developer"}}')).toBe(400);
    expect(await post('{"url":"https://example.com/","constructor":{"prototype":{"x":1}}}')).toBe(400);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "*/*",
    "json",
  ])("answers 400 to the content type %s", async (type) =>
    expect(await post(JSON.stringify({ url }), { headers: { "content-type": type } })).toBe(400),
  );

  it("tells who sends a form, as curl -d does, that the API takes JSON", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const { body } = await service.post("/api/v1/shorten", developer.key, { url }, { headers });
    expect(body).toMatchObject({
      code: "invalid_content_type",
      error: expect.stringContaining("the API takes application/json"),
    });
  });

  it("finds what a request wrote, and only that, while others write too", async () => {
    const before = await service.backend.eventStore.head();
    const { deactivateKey } = service;
    await deactivateKey(neighbour.accountId, neighbour.keyId);
    expect(await refused("/api/v1/shorten", { method: "POST", body: {} })).toBe(400);
    const { body } = await service.post<{ slug: string }>("/api/v1/shorten", developer.key, { url });
    expect(await written(before)).toEqual([`LinkCreated link-localhost/${body.slug}`]);
  });

  it("accepts application/json with a charset", async () => {
    const headers = { "content-type": "Application/JSON; charset=utf-8" };
    expect((await service.post("/api/v1/shorten", developer.key, { url }, { headers })).status).toBe(201);
  });

  it("answers 400 to a body that is not UTF-8, instead of making a link to another address", async () => {
    const before = await service.backend.eventStore.head();
    const json = '{"url":"https://example.com/stra\xdfe"}';
    const head = `Host: localhost\r\nX-API-Key: ${developer.key}\r\nContent-Type: application/json`;
    const { statusLine, body } = await raw(
      `POST /api/v1/shorten HTTP/1.1\r\n${head}\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
    );
    expect(statusLine).toBe("HTTP/1.1 400 Bad Request");
    expect(JSON.parse(body)).toMatchObject({ code: "invalid_json", error: expect.stringContaining("UTF-8") });
    expect(await written(before)).toEqual([]);
  });

  it("answers 400 to a body of 10 MB", async () => {
    const before = await service.backend.eventStore.head();
    const { statusLine } = await raw(
      `POST /api/v1/shorten HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${developer.key}\r\nContent-Type: application/json\r\nContent-Length: 10000000\r\n\r\n{"url":"`,
    );
    expect(statusLine).toBe("HTTP/1.1 400 Bad Request");
    expect(await written(before)).toEqual([]);
  });

  it("answers 400 to a URL of 100,000 characters in the body", async () => {
    expect(await post({ url: `https://example.com/${"a".repeat(100_000)}` })).toBe(400);
  });

  it("answers 400 to a body nested too deeply for its Idempotency-Key", async () => {
    const body = `{"links":[${"[".repeat(100_000)}${"]".repeat(100_000)}]}`;
    const headers = { "idempotency-key": "deep" };
    expect(await refused("/api/v1/shorten/bulk", { method: "POST", body, headers })).toBe(400);
  });

  it("answers what every JSON parser reads when it cuts a field's name short", async () => {
    for (const before of ["", "x"]) {
      const fields = { url, [before + "😀".repeat(500)]: 1 };
      const { text } = await service.post("/api/v1/shorten", developer.key, fields);
      expect(text).toContain("…");
      expect(text).not.toContain("\\ud83d");
    }
  });

  it("answers 4xx to an address of 100,000 characters", async () => {
    const { statusLine, body } = await raw(`GET /${"a".repeat(100_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(statusLine).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(JSON.parse(body)).toMatchObject({ error: expect.any(String) });
  });

  it("answers 4xx to what is not HTTP", async () => {
    const { statusLine, body } = await raw("GET / NOT-HTTP\r\n\r\n");
    expect(statusLine).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(body)).toMatchObject({ error: expect.any(String) });
  });

  it.each(["/abc", "/api/v1/links"])("answers 400 to GET %s without a Host header", async (path) => {
    const { statusLine, body } = await raw(`GET ${path} HTTP/1.1\r\n\r\n`);
    expect(statusLine).toBe("HTTP/1.1 400 Bad Request");
    expect(JSON.parse(body)).toMatchObject({ error: expect.any(String) });
  });

  it("answers a request with an unknown expectation as one without", async () => {
    const { statusLine, body } = await raw(
      "GET /api/v1/links HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\nConnection: close\r\n\r\n",
    );
    expect(statusLine).toBe("HTTP/1.1 401 Unauthorized");
    expect(JSON.parse(body)).toMatchObject({ code: "invalid_api_key" });
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "vbscript:x",
    "data:text/html,<script>",
    "file:///etc/passwd",
    "https://example.com/\r\nLocation: https://evil.example/",
    "https://exa\u0000mple.com/",
    "https://\u202eexample.com/ x",
    "\ud800",
  ])("answers 400 to the URL %j", async (bad) => expect(await post({ url: bad })).toBe(400));

  it.each([
    "/..%2f..%2fetc%2fpasswd",
    "/%2e%2e%2f%2e%2e%2f",
    "/..\\..\\x",
    "/%00",
    "/abc%00def",
    "/%zz",
    "/%",
    "/%c0%ae%c0%ae",
    "/%ff",
    "/api/v1/analytics/%zz",
    "/api/v1/analytics/..%2f..%2flinks",
    "/api/v1/analytics/%00",
    "/api/qr/%00",
    "/api/qr/..%2f..%2fx",
    "/docs/static/..%2f..%2f..%2fpackage.json",
    "/docs/static/%2e%2e/%2e%2e/package.json",
    "/.env",
    "/.git/config",
    "//evil.example/%2e%2e",
    `/api/v1/analytics/${"a".repeat(5000)}`,
    `/${"a".repeat(5000)}`,
    "/__proto__",
    "/constructor",
    "/%F0%9F%98%80",
  ])("answers 4xx to GET %s", async (path) => void (await refused(path, {})));

  it("answers 4xx to SQL in slugs and keys, and treats it as text in filters", async () => {
    for (const text of SQL) {
      const encoded = encodeURIComponent(text);
      await refused(`/${encoded}`, {});
      expect(await refused(`/api/v1/analytics/${encoded}`, {})).toBe(404);
      expect(await refused("/api/v1/links", { key: text })).toBe(401);
      const listed = await service.ask(`/api/v1/links?q=${encoded}&domain_id=${encoded}`, {
        key: developer.key,
      });
      expect([listed.status, listed.body.total]).toEqual([200, 0]);
    }
  });

  it.each([
    "limit=0",
    "limit=101",
    "limit=-1",
    "limit=x",
    "limit=1.5",
    "limit=1&limit=2",
    "cursor=x",
    "cursor=bnVsbA",
    "from=yesterday",
    "to=2026-13-45",
    `q=${"a".repeat(201)}`,
    "q[$ne]=1&q=1&q=2",
    "from=2026-01-01&from=2026-01-02",
  ])("answers 400 to GET /api/v1/links?%s", async (query) => {
    if (query.includes("[") && !query.includes("&")) return;
    expect(await refused(`/api/v1/links?${query}`, {})).toBe(400);
  });

  it.each([
    "bad host",
    "exa\tmple",
    "a".repeat(300),
    "xn--",
    "-",
    "..",
    "evil.example",
    "[::1",
    "localhost@evil.example",
    "[::ffff:127.0.0.1]:x",
  ])("answers 4xx to the host %j", async (host) => void (await refused("/api/v1/links", { host })));

  it("never repeats a header that was injected through a request id or key", async () => {
    for (const id of ["a b", "x".repeat(200), "<script>", "{}"]) {
      const { headers } = await service.ask("/health/live", { headers: { "x-request-id": id } });
      expect(headers["x-request-id"]).not.toBe(id);
    }
    const { headers } = await service.ask("/health/live", { headers: { "x-request-id": "my-request.1" } });
    expect(headers["x-request-id"]).toBe("my-request.1");
  });

  it("takes no request id that shows a key or a client's address, as it goes into logs and events", async () => {
    const idOf = async (id: string) =>
      (await service.ask("/health/live", { headers: { "x-request-id": id } })).headers["x-request-id"];
    const key = `ll_${"aB3".repeat(10)}xY`;
    for (const id of [key, `whk_${key.slice(3)}`, "203.0.113.9", "203.0.113.9-1795692959"])
      expect(await idOf(id)).not.toBe(id);
    for (const id of [`req_${"0a".repeat(16)}`, "2026.11.26.1", "1.2.3"]) expect(await idOf(id)).toBe(id);
  });

  async function raw(request: string): Promise<{ statusLine: string; body: string }> {
    const socket = connect(service.port, "127.0.0.1");
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.includes("}")) socket.destroy();
    });
    socket.on("error", () => undefined);
    socket.write(request, "latin1");
    await new Promise((resolve) => socket.on("close", resolve));
    const [head = "", body = ""] = text.split("\r\n\r\n");
    return { statusLine: head.split("\r\n")[0] ?? "", body };
  }
});
