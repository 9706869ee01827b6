// The console's pages over real HTTP, without scripts: sign-in, forms of other sites, sign-out, headers, and every page once.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { html, htmlText } from "../../../src/portal/shell/html.ts";
import { ProjectionNotBuilt } from "../../../src/projections/builds/errors.ts";
import { lifecycle } from "../../../src/projections/groups.ts";
import { StoreUnavailable } from "../../../src/stores/connections/errors.ts";
import { setAsideCollection } from "../../../src/stores/coordination/set-aside.ts";
import { signedUp, type Visitor, visitor } from "../../support/portal/browser-like.ts";
import { FORM_SENDERS, sendForm } from "../../support/portal/form-senders.ts";
import { ADMIN_TOKEN, operatorOf } from "../../support/portal/operator.ts";
import { until } from "../../support/runtime/until.ts";
import { type Member, startTestService, type TestService } from "../../support/service/start-service.ts";

const ACTS = [
  "/admin/verification",
  "/admin/projections/lifecycle/rebuild",
  "/admin/projections/lifecycle/cancel",
];

describe("the console", { timeout: 60_000 }, () => {
  let service: TestService;
  let operator: Visitor;
  let member: Member;
  let link: string;
  let pages: string[];

  beforeAll(async () => {
    service = await startTestService({ ADMIN_TOKEN, TRUST_PROXY: "127.0.0.1" });
    member = await service.member("free");
    const { body } = await service.post<{ slug: string }>("/api/v1/shorten", member.key, {
      url: "https://example.com/<script>",
    });
    link = `link-localhost/${body.slug}`;
    await service.ask(`/${body.slug}`);
    operator = visitor(service.port);
    await operator.submit("/admin/sign-in", { token: ADMIN_TOKEN });
    const stream = encodeURIComponent(link);
    pages = [
      ...[
        "/admin",
        "/admin/accounts",
        `/admin/accounts/${member.accountId}`,
        "/admin/streams",
        "/admin/streams?category=link",
        "/admin/streams?category=clicks",
      ],
      ...["/admin/streams?category=seals", `/admin/stream?name=${stream}`],
      ...[`/admin/event?stream=${stream}&revision=0`, `/admin/state?stream=${stream}`],
      ...["/admin/events", `/admin/events?account=${member.accountId}&from=&to=`, "/admin/log"],
      ...[
        "/admin/clicks",
        "/admin/withdrawals",
        "/admin/seals",
        "/admin/projections",
        "/admin/projections/lifecycle",
      ],
    ];
    await until("the link", async () =>
      (await operator.get("/admin/streams?category=link")).text.includes(body.slug),
    );
  });
  afterAll(() => service.stop());

  it("shows each page to the operator, safely, and never from a cache", async () => {
    for (const path of pages) {
      const { status, headers, text } = await operator.get(path);
      expect([path, status, headers["cache-control"]]).toEqual([path, 200, "no-store"]);
      expect(headers["content-security-policy"]).toMatch(/^default-src 'self';/);
      expect(text).not.toMatch(/<script(?![^>]* src=")|<style|\sstyle=|\son\w+=|javascript:/i);
      expect([path, text]).not.toEqual([path, expect.stringMatching(/[0-9a-f]{64}(?![\w-]*")/)]);
    }
    for (const asked of ["/admin/explain?link=", "/admin/withdrawals?link=&from=&to="])
      expect((await operator.get(asked)).text).toMatch(/<label for="field-link">Link</);
    expect((await operator.get("/admin/nothing")).text).toContain("There is nothing here");
    expect((await operator.get("/admin/projections/nothing")).status).toBe(404);
  });

  it("sends who isn't signed in to the sign-in and back, on the base host alone", async () => {
    for (const path of pages) {
      const { status, headers } = await visitor(service.port).get(path);
      const next = `/admin/sign-in?next=${encodeURIComponent(path)}`;
      expect([path, status, headers.location]).toEqual([path, 303, next]);
    }
    for (const path of [...pages, "/admin/sign-in"])
      expect((await service.ask(path, { host: "elsewhere.example" })).status).toBe(404);
    const late = visitor(service.port);
    const back = await late.submit(
      "/admin/sign-in?next=/admin/seals",
      {
        ...{ token: ADMIN_TOKEN, next: "/admin/seals" },
      },
      "/admin/sign-in",
    );
    expect(back.text).toContain("<h1>Seals</h1>");
    const away = await late.submit(
      "/admin/seals",
      { token: ADMIN_TOKEN, next: "https://evil.example/" },
      "/admin/sign-in",
    );
    expect(away.text).toContain("<h1>Console</h1>");
  });

  it("refuses a wrong token, and who has tried too often", async () => {
    const guesser = visitor(service.port, { address: "203.0.113.9" });
    const wrong = await guesser.submit("/admin/sign-in", { token: "operator" });
    expect(wrong.status).toBe(401);
    expect(guesser.cookies.has("linkledger-operator")).toBe(false);
    for (let n = 0; n < 14; n++) await guesser.submit("/admin/sign-in", { token: `guess ${n}` });
    const refused = await guesser.submit("/admin/sign-in", { token: ADMIN_TOKEN });
    expect([refused.status, Number(refused.headers["retry-after"]) > 3_000]).toEqual([429, true]);
    const other = visitor(service.port, { address: "203.0.113.10" });
    expect((await other.submit("/admin/sign-in", { token: ADMIN_TOKEN })).status).toBe(200);
  });

  it("refuses every form of another site, and a session of the portal", async () => {
    const head = await service.backend.eventStore.head();
    for (const path of [
      ...ACTS,
      "/admin/theme",
      "/admin/sign-out",
      "/admin/sign-in",
      "/admin/api/verification",
    ])
      for (const { headers, isOwn } of FORM_SENDERS.filter((from) => !from.isOwn)) {
        const { body } = await sendForm(service.port, path, headers, operator.cookie());
        expect([path, headers, isOwn, body.code]).toEqual([path, headers, false, "form_refused"]);
      }
    const person = await signedUp(service.port, "a@example.com");
    expect((await person.get("/admin")).status).toBe(303);
    for (const path of ACTS) expect((await person.post(path, {})).headers.location).toBe("/admin/sign-in");
    const written = await service.backend.eventStore.readAll({
      ...{ after: head, categories: ["operator"], limit: 10 },
    });
    expect(written.events).toEqual([]);
  });

  it("lists the events that were set aside, each with a link to what there is of it", async () => {
    const { eventStore, foldStore } = service.backend;
    const metadata = {
      ...{ schemaVersion: 1, correlationId: "c", causationId: "c" },
      actor: { type: "operator" } as const,
    };
    const bad = { id: crypto.randomUUID(), type: "LinkPraised", data: { by: "<all>" }, metadata };
    await eventStore.append("link-localhost/bad", "none", [bad]);
    const notes = setAsideCollection(lifecycle.name);
    await until("the note", async () => (await foldStore.count(notes, {})) === 1);
    const path = "/admin/event?stream=link-localhost%2Fbad&revision=0";
    const linked = htmlText(html`href="${path}"`);
    expect((await operator.get("/admin/projections/lifecycle")).text).toContain(linked);
    for (const page of ["/admin", "/admin/projections"])
      expect((await operator.get(page)).text).toContain("1 event set aside");
    const found = (await operator.get("/admin/events?category=link")).text;
    expect(found).toContain("1 event that can't be read may be among them");
    const event = (await operator.get(path)).text;
    expect(event).toContain("there is no such type");
    expect(event).not.toContain("<all>");
  });

  it("says what is wrong where stores don't answer and nothing is complete yet", async () => {
    const { eventStore, readStore } = service.backend;
    const { head } = eventStore;
    const { find } = readStore;
    eventStore.head = () => Promise.reject(new StoreUnavailable("The event store can't be reached"));
    readStore.find = () => Promise.reject(new ProjectionNotBuilt("Built for the first time", 5));
    const { status, text } = await operator.get("/admin");
    Object.assign(eventStore, { head });
    Object.assign(readStore, { find });
    expect(status).toBe(200);
    expect(text).toMatch(/What is wrong<.*<strong>event store<\/strong>/s);
    expect(text).toContain("Not known just now.");
    expect(text).not.toContain("Nothing yet.");
  });

  it("records sign-ins and acts, and its API knows the session", async () => {
    const done = await operator.submit(
      "/admin/projections/lifecycle",
      {},
      "/admin/projections/lifecycle/rebuild",
    );
    expect(done.text).toContain("A new build is being computed");
    const refused = await operator.submit(
      "/admin/projections/clicks",
      {},
      "/admin/projections/clicks/rollback",
    );
    expect(refused.text).toContain("There is no previous build of clicks");
    const cookie = operator.cookie();
    const answer = await service.ask("/admin/api/projections/clicks/rollback", {
      method: "POST",
      headers: { cookie },
      body: {},
    });
    expect(answer.status).toBe(409);
    expect((await service.ask("/admin/api/projections", { headers: { cookie } })).status).toBe(200);
    const { events } = await operatorOf(service).get<{ events: { type: string; data: object }[] }>(
      "/stream",
      {
        name: `operator-${new Date().toISOString().slice(0, 7).replace("-", "")}`,
      },
    );
    expect(events[0]).toMatchObject({
      type: "ProjectionRebuildRequested",
      data: { projections: ["lifecycle"] },
    });
    const signedIn = events.filter(({ type }) => type === "OperatorSignedIn");
    expect(signedIn.at(-1)).toMatchObject({
      data: { browser: "Firefox on Linux", address: expect.stringMatching(/\.0$/) },
    });
    await until("the act", async () =>
      (await operator.get("/admin")).text.includes("ProjectionRebuildRequested"),
    );
  });

  it("ends a session for good when the operator signs out", async () => {
    const leaving = visitor(service.port);
    await leaving.submit("/admin/sign-in", { token: ADMIN_TOKEN });
    const cookie = leaving.cookies.get("linkledger-operator") ?? "";
    expect((await leaving.submit("/admin", {}, "/admin/sign-out")).text).toContain("You are signed out");
    leaving.cookies.set("linkledger-operator", cookie);
    expect((await leaving.get("/admin")).status).toBe(303);
  });
});
