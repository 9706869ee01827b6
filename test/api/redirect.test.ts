// GET and HEAD /{slug} over the wire (interface, part 4; DESIGN §5).
import Fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RecorderBusy } from "../../src/redirect/commit-waiters.ts";
import { type Hit, unpackTarget } from "../../src/redirect/hit.ts";
import { linkEntry } from "../../src/redirect/link-entry.ts";
import { requesterOf } from "../../src/redirect/requester.ts";
import { type RedirectRouteDeps, redirectRoute, slugAnswer } from "../../src/redirect/route.ts";

const entry = (status: "live" | "disabled") =>
  linkEntry({
    host: "localhost",
    slug: "abcdefg",
    accountId: "7a6f3c1e-52b1-4f0e-9a54-2f6c1d7b8e90",
    longUrl: "https://example.com/path?x=1#top",
    shortUrl: "http://localhost:3000/abcdefg",
    status,
    via: "api",
    revision: 0,
  });

describe("the redirect", () => {
  let app: FastifyInstance;
  let hits: Hit[];
  let deps: RedirectRouteDeps;

  beforeEach(() => {
    hits = [];
    const links = new Map([
      ["localhost/abcdefg", entry("live")],
      ["localhost/off", entry("disabled")],
    ]);
    const find = (host: string, slug: string) => links.get(`${host}/${slug.toLowerCase()}`);
    deps = {
      lookup: { peek: find, find: async (host, slug) => find(host, slug) },
      recorder: {
        record: (hit) => {
          hits.push({ ...hit, link: unpackTarget(hit.link) });
          return undefined;
        },
        recordAtOnce: () => false,
      },
      baseHost: "localhost",
      requester: requesterOf(false),
      now: () => 1_777_000_000_000,
      stats: { found: 0, notFound: 0, disabled: 0, error: 0 },
    };
    app = Fastify();
    redirectRoute(app, slugAnswer(deps));
  });

  afterEach(() => app.close());

  it("answers GET and HEAD with the same 301, which no cache may reuse unasked", async () => {
    for (const method of ["GET", "HEAD"] as const) {
      const response = await app.inject({
        method,
        url: "/ABCdefg?qr=1&a=b",
        headers: { "sec-purpose": "prefetch" },
      });
      expect(response.statusCode).toBe(301);
      expect(response.headers).toMatchObject({
        location: "https://example.com/path?x=1#top",
        "cache-control": "private, max-age=0, must-revalidate",
      });
      expect(response.body).toBe("");
    }
    expect(hits.map((hit) => hit.method)).toEqual(["GET", "HEAD"]);
    expect(hits[0]).toMatchObject({ query: "qr=1&a=b", prefetch: "prefetch", at: 1_777_000_000_000 });
    expect(deps.stats).toEqual({ found: 2, notFound: 0, disabled: 0, error: 0 });
  });

  it("answers 404 for no link, another host and a disabled link, as JSON or as a page", async () => {
    for (const request of [
      { url: "/nothing" },
      { url: "/off" },
      { url: "/abcdefg", headers: { host: "go.example" } },
    ]) {
      const response = await app.inject(request);
      expect(response.statusCode).toBe(404);
      expect(response.json()).toMatchObject({
        error: expect.any(String),
        code: "link_not_found",
        request_id: expect.any(String),
      });
    }
    const page = await app.inject({ url: "/nothing", headers: { accept: "text/html,*/*" } });
    expect(page.headers["content-type"]).toContain("text/html");
    expect(hits).toEqual([]);
    expect(deps.stats).toMatchObject({ notFound: 3, disabled: 1 });
  });

  it("answers after the commit where the recorder asks to wait, and 503 rather than lose the click", async () => {
    let committed = false;
    deps.recorder.record = async () => {
      committed = true;
    };
    expect((await app.inject("/abcdefg")).statusCode).toBe(301);
    expect(committed).toBe(true);
    deps.recorder.record = () => Promise.reject(new RecorderBusy("busy"));
    const busy = await app.inject("/abcdefg");
    expect([busy.statusCode, busy.headers["retry-after"], busy.json().code]).toEqual([
      503,
      "1",
      "recorder_busy",
    ]);
  });

  it("answers 503 with Retry-After when the stores are away", async () => {
    deps.lookup.peek = () => undefined;
    deps.lookup.find = () => Promise.reject(new Error("secret place"));
    const response = await app.inject("/abcdefg");
    expect([response.statusCode, response.headers["retry-after"]]).toEqual([503, "1"]);
    expect(response.body).not.toContain("secret");
  });
});
