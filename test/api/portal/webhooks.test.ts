// Webhooks in the portal over real HTTP with a real receiver: key shown once, test tool, log, resend, pause, remove.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgetWebhookKeys } from "../../../src/commands/webhooks/webhook-key.ts";
import { CLICK_KINDS, CREATED_VIA } from "../../../src/events/vocabulary.ts";
import { WEBHOOK_EVENTS } from "../../../src/events/webhook-selection.ts";
import { showWebhook } from "../../../src/queries/webhooks.ts";
import { decoded, issuedKey } from "../../support/portal/browser-like.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { effort } from "../../support/runtime/effort.ts";
import { until } from "../../support/runtime/until.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";
import { startReceiver } from "../../support/webhooks/webhook-receiver.ts";

describe("the webhook pages", { timeout: 90_000 }, () => {
  let service: TestService;
  let people: ReturnType<typeof portalPeople>;
  beforeAll(async () => {
    service = await startTestService({ TRUST_PROXY: "127.0.0.1/32", WEBHOOK_ALLOW_PRIVATE: "true" });
    people = portalPeople(service);
  }, 120_000);
  afterAll(() => service.stop());

  async function withWebhook(url: string, more: Record<string, string> = {}) {
    const person = await people.developer();
    const { text } = await person.submit("/portal/webhooks", { url, kinds: "click", ...more });
    const [key = ""] = /whk_[A-Za-z0-9]{32}/.exec(text) ?? [];
    const [page = ""] = /\/portal\/webhooks\/[0-9a-f-]{36}/.exec(text) ?? [];
    return { person, key, page };
  }
  async function click(person: Person) {
    const key = await issuedKey(person);
    const { body } = await service.post("/api/v1/shorten", key, { url: "https://example.com/" });
    const browser = {
      "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    };
    expect((await service.ask(`/${body.slug}`, { headers: browser })).status).toBe(301);
  }

  it("offer the Developer plan to who has none, and take no webhook", async () => {
    const person = await people.person();
    expect((await person.get("/portal/webhooks")).text).toContain("Webhooks come with the Developer plan");
    const refused = await person.submit("/portal/webhooks", {
      url: "https://hooks.example.com/",
      kinds: "click",
    });
    expect(refused.text).toContain("Webhooks come with the Developer plan");
    expect((await person.get("/portal/webhooks")).text).not.toContain("hooks.example.com");
  });

  it("say that nothing is sent once the account is back on the Free plan", async () => {
    const { person, page } = await withWebhook("https://hooks.example.com/");
    expect((await person.get(page)).text).not.toContain("Nothing is sent on the Free plan");
    await person.submit("/portal/plan", {}, "/portal/plan/downgrade");
    expect((await person.get(page)).text).toContain("Nothing is sent on the Free plan");
  });

  it("show the key once, and only its end afterwards", async () => {
    const { person, key, page } = await withWebhook("https://hooks.example.com/a", { label: "Shop" });
    for (const path of ["/portal/webhooks", page]) {
      const { text } = await person.get(path);
      expect(text).toContain("Shop");
      expect(text).toContain(key.slice(-4));
      expect(text).not.toContain(key);
    }
  });

  it("say beside the form why an address is refused, and keep what was typed", async () => {
    const person = await people.developer();
    const refused = await person.submit("/portal/webhooks", {
      url: "ftp://x",
      label: "Kept",
      kinds: "preview",
    });
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(/class="error"[\s\S]*must begin with/);
    expect(refused.text).toMatch(/value="Kept"[\s\S]*value="preview" checked/);
    const none = await person.submit("/portal/webhooks", { url: "https://hooks.example.com/", kinds: "" });
    expect([none.status, decoded(none.text)]).toEqual([400, expect.stringContaining("one or more of click")]);
    const { person: owner, page } = await withWebhook("https://hooks.example.com/");
    const change = { url: "ftp://x", label: "Kept", kinds: "preview" };
    const unchanged = await owner.submit(page, change, `${page}/settings`);
    expect(unchanged.status).toBe(400);
    expect(unchanged.text).toMatch(/value="ftp:\/\/x"[\s\S]*must begin with[\s\S]*value="Kept"/);
    expect(unchanged.text).toMatch(/value="click" >[\s\S]*value="preview" checked/);
  });

  it("say that the key is missing, what to do, and that a new one ended the pause", async () => {
    const receiver = await startReceiver();
    const { person, page } = await withWebhook(`http://127.0.0.1:${receiver.port}/`);
    await forgetWebhookKeys(service.backend.secrets, page.split("/").at(-1) ?? "");
    expect((await person.submit(`${page}/test`, {})).text).toContain("The key of this webhook is missing");
    await click(person);
    const shown = async () => decoded((await person.get(page)).text);
    await until("the reason", async () => (await shown()).includes("its key is missing"));
    expect(await shown()).toContain("Make a new key below: it then resumes by itself.");
    await person.submit(`${page}/rotate`, {});
    await until("the end of the pause", async () => !(await shown()).includes("its key is missing"));
    await until("the delivery", () => receiver.received.length === 1);
  });

  it("say how many of the last deliveries failed", async () => {
    const receiver = await startReceiver({ answer: (response) => response.writeHead(500).end() });
    const { person, page } = await withWebhook(`http://127.0.0.1:${receiver.port}/`);
    expect((await person.get(page)).text).not.toContain("failed</span>");
    await click(person);
    const shown = async (path: string) => (await person.get(path)).text;
    await until("the failure", async () => (await shown(page)).includes("1 of the last 1 failed"));
    expect(await shown("/portal/webhooks")).toContain("1 of the last 1 failed");
  });

  it("say on the dashboard, too, that a receiver rests, with the way to its deliveries", async () => {
    const { person, page } = await withWebhook("https://hooks.example.com/", { label: "Shop" });
    expect((await person.get("/portal")).text).not.toContain("rests until about");
    const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000).toISOString();
    const webhookId = page.split("/").at(-1) ?? "";
    for (let n = 10; n > 0; n--)
      await service.backend.deliveryQueue.noteFailure(webhookId, at(n - 1), at(60));
    const { text } = await person.get("/portal");
    expect(text).toMatch(/The receiver of Shop has failed since .* UTC: it rests until about .* UTC/);
    expect(text).toContain(`<a href="${page}">Its deliveries</a>`);
    expect((await person.get(page)).text).toContain("it rests until about");
  });

  it("choose what a webhook is told of, and of which links", async () => {
    const { person, page } = await withWebhook("https://hooks.example.com/");
    const settings = { url: "https://hooks.example.com/", kinds: "click" };
    const chosen = { ...settings, events: "link.created", domains: "LOCALHOST", tags: "sale, news" };
    const saved = (await person.submit(page, chosen, `${page}/settings`)).text;
    expect(saved).toMatch(/value="link.clicked" >[\s\S]*value="link.created" checked/);
    expect(saved).toMatch(/name="domains"[^>]*value="localhost"[\s\S]*name="tags"[^>]*value="news, sale"/);
    expect(saved).toContain("Sends a signed sample of <code>link.created</code>");
    expect((await person.get("/portal/webhooks")).text).toMatch(/data-label="Told of">Created</);
    const foreign = { ...chosen, domains: "elsewhere.example" };
    const refused = await person.submit(page, foreign, `${page}/settings`);
    expect(refused.status).toBe(400);
    expect(decoded(refused.text)).toContain("elsewhere.example is no domain of this account");
    expect(refused.text).toMatch(/value="elsewhere.example"/);
  });

  it("save what their boxes say, whatever it is, or say beside a box why not and save nothing", async () => {
    const { person, page } = await withWebhook("https://hooks.example.com/");
    const webhookId = page.split("/").at(-1) ?? "";
    const saved = async () => {
      const document = await showWebhook(service.backend, webhookId);
      const { url, label, events, kinds, via, domains, tags } = document;
      return { url, label, events, kinds, via, domains, tags };
    };
    const boxes = (all: readonly string[]) => fc.subarray([...all]);
    const texts = (...all: string[]) => fc.subarray(all);
    const form = fc.record({
      url: fc.constantFrom("https://hooks.example.com/", "https://hooks.example.com/b", "", "ftp://x"),
      label: fc.constantFrom("", "Shop"),
      events: boxes(WEBHOOK_EVENTS),
      kinds: boxes(CLICK_KINDS),
      via: boxes(CREATED_VIA),
      domains: texts("localhost", "elsewhere.example", "x y"),
      tags: texts("news", "sale"),
    });
    await fc.assert(
      fc.asyncProperty(form, async ({ domains, tags, ...sent }) => {
        const typed = { ...sent, domains: domains.join(", "), tags: tags.join(", ") };
        const body: [string, string][] = [];
        // As the page has them, with an empty one beside the boxes.
        for (const [name, value] of Object.entries(typed))
          for (const one of typeof value === "string" ? [value] : ["", ...value]) body.push([name, one]);
        const before = await saved();
        const { status, text } = await person.post(`${page}/settings`, body);
        const wrong = [
          ...(sent.url.startsWith("https:") ? [] : ["url"]),
          ...(["events", "kinds", "via"] as const).filter((name) => sent[name].length === 0),
          ...(domains.every((one) => one === "localhost") ? [] : ["domains"]),
        ];
        if (wrong.length === 0) {
          expect(status).toBe(303);
          expect(await saved()).toEqual({ ...sent, domains, tags });
          return;
        }
        const [, named = ""] = /id="field-(\w+)-error"/.exec(text) ?? [];
        expect([status, wrong.includes(named), text.includes('class="notice notice-failed')]).toEqual([
          400,
          true,
          false,
        ]);
        expect(await saved()).toEqual(before);
        for (const name of ["events", "kinds", "via"] as const) {
          const shown = [...text.matchAll(new RegExp(`name="${name}" value="([^"]+)" checked`, "g"))];
          expect(shown.map(([, value]) => value).sort()).toEqual([...sent[name]].sort());
        }
      }),
      { numRuns: effort(25, 100) },
    );
  });

  it("hold five webhooks", async () => {
    const person = await people.developer();
    for (let n = 0; n < 5; n++)
      await person.submit("/portal/webhooks", { url: `https://hooks.example.com/${n}`, kinds: "click" });
    const { text } = await person.get("/portal/webhooks");
    expect(text).toContain("5 of 5 webhooks.");
    expect(text).not.toContain("Add a webhook");
  });

  it("send a signed test to a receiver, and show request and answer without the key", async () => {
    const receiver = await startReceiver({
      answer: (response) => response.writeHead(418).end("<b>a teapot</b>"),
    });
    const { person, key, page } = await withWebhook(`http://127.0.0.1:${receiver.port}/hook`);
    const { text } = await person.submit(page, {}, `${page}/test`);
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]?.headers["x-api-key"]).toBe(key);
    expect(text).not.toContain(key);
    const shown = decoded(text);
    expect(shown).toContain(`POST http://127.0.0.1:${receiver.port}/hook`);
    expect(shown).toContain('"event": "link.clicked"');
    expect(shown).toMatch(/Not delivered: [\s\S]*Status 418[\s\S]*a teapot/);
    expect(text).not.toContain("<b>a teapot");
  });

  it("list each delivery, filtered by state and event, with its tries; send it again; pause, resume and remove", async () => {
    const receiver = await startReceiver();
    const url = `http://127.0.0.1:${receiver.port}/hook`;
    const { person, page } = await withWebhook(url);
    await click(person);
    await until("the click", () => receiver.received.length === 1);
    await person.submit(page, { url, kinds: "click", events: "link.created" }, `${page}/settings`);
    await click(person);
    const log = async (state = "", more = "") => (await person.get(`${page}?state=${state}${more}`)).text;
    await until("the deliveries", () => receiver.received.length === 2);
    const names = async (state: string, event: string) =>
      [...(await log(state, `&event=${event}`)).matchAll(/data-label="Event">(\w+)</g)].map(
        ([, name]) => name,
      );
    await until("both outcomes", async () => (await names("delivered", "")).length === 2);
    expect(await names("", "link.created")).toEqual(["Created"]);
    expect(await names("delivered", "link.clicked")).toEqual(["Clicked"]);
    expect(await log("failed", "&event=link.created")).toContain("None of created links is failed.");
    expect(await log("failed")).toContain("None is failed.");
    const [delivery = ""] =
      /\/portal\/webhooks\/[^/"]+\/deliveries\/[^/"]+/.exec(await log("", "&event=link.clicked")) ?? [];
    expect(await log()).toMatch(
      /deliveries\/[^"]+">localhost\/\w+<\/a><\/td>\s*<td data-label="Event">Clicked<\/td>\s*<td data-label="When"><time/,
    );
    const shown = decoded((await person.get(delivery)).text);
    expect(shown).toMatch(/<h1>Clicked: localhost\/\w+ /);
    expect(shown).toMatch(/"short_url": "http:\/\/localhost\/[\s\S]*/);
    expect(shown).toContain('"received": true');
    const again = await person.submit(delivery, {}, `${delivery}/resend`);
    expect(again.text).toContain("The delivery is about to be sent again.");
    await until("the second delivery", () => receiver.received.length === 3);
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(2);

    expect((await person.submit(page, {}, `${page}/pause`)).text).toContain(
      "Nothing is sent until you resume it",
    );
    expect((await person.submit(delivery, {}, `${delivery}/resend`)).text).toContain(
      "The delivery is about to be sent again.",
    );
    expect((await person.submit(page, {}, `${page}/resume`)).text).toContain("The webhook is active again.");
    const rotated = await person.submit(page, {}, `${page}/rotate`);
    expect(rotated.text).toMatch(/whk_[A-Za-z0-9]{32}/);
    expect((await person.get(page)).text).toContain("signs along until");
    const changes = { url: "https://hooks.example.com/new", label: "Renamed", kinds: "qr_scan" };
    const changed = await person.submit(page, changes, `${page}/settings`);
    expect(changed.text).toMatch(/The settings are saved\.[\s\S]*Renamed[\s\S]*value="qr_scan" checked/);
    const removed = await person.submit(page, {}, `${page}/remove`);
    expect(removed.text).toContain("The webhook is removed.");
    expect((await person.get(page)).status).toBe(404);
  });
});
