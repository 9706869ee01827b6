// The event feed over real HTTP: pages, server-sent events and CloudEvents of the account's own events.
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/runtime/until.ts";
import { eventStream } from "../support/service/event-stream.ts";
import { leaveEarly } from "../support/service/leave-early.ts";
import {
  type Member,
  onCluster,
  startTestService,
  type TestService,
} from "../support/service/start-service.ts";

type Event = { id: string; type: string; position: string; data: Record<string, unknown> };
type Page = { events: Event[]; next: string; more: boolean };
type Schemas = { components: { schemas: Record<string, object> } };

let service: TestService;
let developer: Member;
beforeAll(async () => {
  service = await startTestService();
  developer = await service.member("developer");
});
afterAll(() => service.stop());

const feed = (query = "", { key } = developer) => service.ask<Page>(`/api/v1/events${query}`, { key });

const shorten = ({ key } = developer) => service.shorten(key, { url: "https://example.com/feed" });

/** Pages behind a position until nothing more is there. */
async function everything(after: string | undefined, types = "", who = developer): Promise<Event[]> {
  const found: Event[] = [];
  for (let next = after; ; ) {
    const query = `?limit=1000&types=${types}${next === undefined ? "" : `&after=${next}`}`;
    const { body } = await feed(query, who);
    found.push(...body.events);
    next = body.next;
    if (!body.more) return found;
  }
}

describe("GET /api/v1/events", () => {
  it("answers what happened to the account, with who did it and which request", async () => {
    const who = await service.member("developer");
    const { body: link } = await service.post<{ slug: string }>(
      "/api/v1/shorten",
      who.key,
      { url: "https://example.com/feed" },
      { headers: { "x-request-id": "order-4711" } },
    );
    await service.ask(`/${link.slug}`);
    let events: Event[] = [];
    await until("the click", async () => {
      events = await everything(undefined, "", who);
      return events.length === 4;
    });
    expect(events.map(({ type }) => type)).toEqual([
      "AccountOpened",
      "KeyIssued",
      "LinkCreated",
      "LinkClicked",
    ]);
    expect(events[2]).toMatchObject({
      version: 1,
      subject: `link/localhost/${link.slug}`,
      actor: { type: "key", id: who.keyId },
      correlation_id: "order-4711",
      data: { slug: link.slug, longUrl: "https://example.com/feed", keyId: who.keyId },
    });
  });

  it("never shows key hashes, TXT tokens or stream names", async () => {
    const who = await service.member("developer");
    await service.domain(who.accountId, "feed.example.org");
    const { text } = await feed("", who);
    const [issued, added] = await Promise.all(
      ["KeyIssued", "DomainAdded"].map((type) => feed(`?types=${type}`, who)),
    );
    expect(issued?.body.events[0]?.data).not.toHaveProperty("keyHash");
    expect(added?.body.events[0]?.data).toEqual({
      accountId: who.accountId,
      hostname: "feed.example.org",
      at: expect.any(String),
    });
    expect(text).not.toMatch(/keyHash|token|"stream"|clicks-/);
  });

  it("shows no event of another account, also where they share a stream", async () => {
    const [one, other] = [await service.member("developer"), await service.member("developer")];
    for (const who of [one, other, one]) await service.ask(`/${await shorten(who)}`);
    let events: Event[] = [];
    await until("two clicks", async () => {
      events = await everything(undefined, "LinkClicked", one);
      return events.length === 2;
    });
    const all = await everything(undefined, "", one);
    expect(new Set([...events, ...all].map(({ data }) => data.accountId))).toEqual(new Set([one.accountId]));
  });

  it("resumes at `next`, which a Link header names too", async () => {
    const slugs = [await shorten(), await shorten(), await shorten()];
    const created = (await everything(undefined, "LinkCreated")).slice(-3);
    expect(created.map(({ data }) => data.slug)).toEqual(slugs);
    const first = await feed(`?types=LinkCreated&limit=1&after=${created[0]?.position}`);
    expect(first.body).toMatchObject({ events: [created[1]], next: created[1]?.position, more: true });
    expect(first.headers.link).toBe(
      `</api/v1/events?${new URLSearchParams({ types: "LinkCreated", limit: "1", after: first.body.next })}>; rel="next", </api/v1/events?types=LinkCreated&limit=1>; rel="first"`,
    );
    const { body } = await feed(`?types=LinkCreated&after=${first.body.next}`);
    expect(body).toMatchObject({ events: [created[2]], more: false });
    expect((await feed(`?after=${body.next}`)).body).toEqual({ events: [], next: body.next, more: false });
  });

  it("carries the rate limit headers, and needs a key of the Developer tier", async () => {
    const free = await service.member("free");
    const answers = [await feed(), await feed("", free), await service.ask("/api/v1/events")];
    expect(answers.map(({ status }) => status)).toEqual([200, 402, 401]);
    for (const { headers } of answers) expect(headers).toHaveProperty("x-ratelimit-remaining");
    expect(answers[1]?.body).toMatchObject({ code: "tier_required" });
  });

  it("says where its types are listed, for those who have but its address", async () => {
    expect((await feed("?types=LinkPraised")).body).toMatchObject({
      error: expect.stringContaining("/openapi.json"),
    });
    expect((await service.ask("/openapi.json")).text).toContain('"const":"LinkCreated"');
  });

  it.each(["?types=LinkPraised", "?limit=0", "?limit=1001", "?after=%20", "?after=99", "?after=x:y"])(
    "answers 400 to %s",
    async (query) => expect((await feed(query)).status).toBe(400),
  );

  it("refuses a position beyond the end of the log, instead of waiting there for ever", async () => {
    const { body } = await feed();
    const answer = await feed(`?after=${body.next.replace(/^./, "9")}`);
    expect([answer.status, answer.body]).toMatchObject([400, { code: "invalid_position" }]);
  });
});

describe("as CloudEvents", () => {
  it("has the attributes of version 1.0, with an id that is unique for its source", async () => {
    await shorten();
    const { headers, text } = await service.ask("/api/v1/cloudevents?types=LinkCreated", {
      key: developer.key,
    });
    expect(headers["content-type"]).toBe("application/cloudevents-batch+json; charset=utf-8");
    expect(headers.link).toMatch(/^<\/api\/v1\/cloudevents\?.*after=\d.*>; rel="next", /);
    const events = JSON.parse(text) as Record<string, unknown>[];
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    for (const event of events) {
      expect(event).toMatchObject({
        specversion: "1.0",
        source: "http://localhost",
        type: "linkledger.LinkCreated",
        datacontenttype: "application/json",
        dataschema: "http://localhost/openapi.json#/components/schemas/LinkCreatedData",
        actortype: "key",
        actorid: developer.keyId,
      });
      // Names of attributes: lower-case letters and digits.
      for (const name of Object.keys(event)) expect(name).toMatch(/^[a-z0-9]{1,20}$/);
    }
  });

  it("matches the schemas of the OpenAPI document, as plain events do", async () => {
    const who = await service.member("developer");
    await service.domain(who.accountId, "schemas.example.org");
    const slug = await shorten(who);
    await service.ask(`/${slug}`, { headers: { "user-agent": "curl/8" } });
    await until("the click", async () => (await everything(undefined, "LinkClicked", who)).length === 1);
    const { body: document } = await service.ask<Schemas>("/openapi.json");
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, "api");
    const check = (name: string, value: unknown) => {
      const valid = ajv.validate({ $ref: `api#/components/schemas/${name}` }, value);
      expect([name, valid, ajv.errors]).toEqual([name, true, null]);
    };
    const plain = await feed("", who);
    check("EventPage", plain.body);
    for (const event of plain.body.events) {
      check(`${event.type}Event`, event);
      check(`${event.type}Data`, event.data);
    }
    const { text } = await service.ask("/api/v1/cloudevents", { key: who.key });
    const events = JSON.parse(text) as Event[];
    expect(events).toHaveLength(plain.body.events.length);
    for (const event of events) check("CloudEvent", event);
  });
});

describe("as server-sent events", () => {
  const STREAM = "/api/v1/events/stream";
  const open = (query = "", headers: Record<string, string> = {}, { key } = developer, path = STREAM) =>
    eventStream(service.port, `${path}${query}`, { "x-api-key": key, ...headers });

  it("sends what there is and what comes, once each, through reconnections", async () => {
    const who = await service.member("developer");
    const slug = await shorten(who);
    const seen: string[] = [];
    let stream = await open("", {}, who);
    expect(stream.status).toBe(200);
    const take = async (count: number) => {
      for (let n = 0; n < count; n += 1) {
        const message = await stream.next("message");
        expect(message?.id).toBe(message?.data.position);
        seen.push(String(message?.data.type));
      }
    };
    await take(3);
    for (let n = 0; n < 5; n += 1) {
      await service.ask(`/${slug}`);
      if (n % 2 === 0) {
        await take(1);
        continue;
      }
      const lastId = stream.lastId() ?? "";
      stream.close();
      stream = await open("?types=LinkClicked", { "last-event-id": lastId }, who);
      await take(1);
    }
    stream.close();
    expect(seen).toEqual(["AccountOpened", "KeyIssued", "LinkCreated", ...Array(5).fill("LinkClicked")]);
  });

  it("sends CloudEvents below their own address", async () => {
    const stream = await open("", {}, developer, "/api/v1/cloudevents/stream");
    expect((await stream.next("message"))?.data).toMatchObject({ specversion: "1.0" });
    stream.close();
  });

  it("answers errors as such: no key, no tier, a position of another log", async () => {
    const free = await service.member("free");
    const statuses = [
      (await open("", {}, free)).status,
      (await open("", { "x-api-key": "none" })).status,
      (await open("", { "last-event-id": "99" })).status,
    ];
    expect(statuses).toEqual([402, 401, 400]);
  });

  it.skipIf(onCluster())("has ten streams an account at most", async () => {
    const who = await service.member("developer");
    const streams = [];
    for (let n = 0; n < 10; n += 1) streams.push(await open("", {}, who));
    const refused = await service.ask<{ code: string }>(STREAM, { key: who.key });
    expect([refused.status, refused.body.code, refused.headers["retry-after"]]).toEqual([
      429,
      "too_many_streams",
      "10",
    ]);
    for (const stream of streams) stream.close();
    await until("a free place", async () => {
      const stream = await open("", {}, who);
      stream.close();
      return stream.status === 200;
    });
  });

  it.skipIf(onCluster())("keeps no place for clients that left before their stream began", async () => {
    const who = await service.member("developer");
    const [first] = (await feed("?limit=1", who)).body.events;
    const headers = { host: "localhost", "x-api-key": who.key };
    const path = `${STREAM}?after=${first?.position}`;
    await leaveEarly(service.backend.eventStore, "head", { port: service.port, path, headers }, 10);
    await until("a free place", async () => {
      const stream = await open("", {}, who);
      stream.close();
      return stream.status === 200;
    });
  });

  it("answers HEAD with the headers alone, and keeps no place for it", { timeout: 10_000 }, async () => {
    const { key } = await service.member("developer");
    for (let n = 0; n < 11; n++) {
      const head = await service.ask(STREAM, { method: "HEAD", key });
      expect([head.status, head.headers["content-type"]]).toEqual([200, "text/event-stream"]);
    }
  });

  it("ends soon after its key was deactivated", { timeout: 90_000 }, async () => {
    const who = await service.member("developer");
    const stream = await open("", {}, who);
    await stream.next("message");
    await service.deactivateKey(who.accountId, who.keyId);
    expect(await stream.next("never")).toBeUndefined();
  });
});
