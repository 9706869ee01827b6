// Sign-up, sign-in, sign-out and cookies of the portal over real HTTP.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { visitor } from "../../support/portal/browser-like.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const password = "seven brown foxes";

describe("the portal's accounts", { timeout: 60_000 }, () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ TRUST_PROXY: "127.0.0.1/32" });
  });
  afterAll(() => service.stop());

  it("leads from the landing page to sign up", async () => {
    const { status, text } = await visitor(service.port).get("/");
    expect(status).toBe(200);
    expect(text).toContain('href="/portal/sign-up"');
  });

  it("signs a newcomer up and in, and lets them issue a key that works", async () => {
    const person = visitor(service.port);
    const landed = await person.submit("/portal/sign-up", { email: "new@example.com", password });
    expect(landed.text).toContain("new@example.com");
    const issued = await person.submit("/portal/keys", { label: "Website" });
    const [key = ""] = /ll_[A-Za-z0-9]{32}/.exec(issued.text) ?? [];
    expect((await service.post("/api/v1/shorten", key, { url: "https://example.com/" })).status).toBe(201);
    const list = await person.get("/portal/keys");
    expect(list.text).toMatch(/Website[\s\S]*data-label="Last used"><time datetime="2/);
    expect(list.text).not.toContain(key);
  });

  it("answers 404 as a page, and 404 on other hosts", async () => {
    const { status, text } = await visitor(service.port).get("/portal/nothing");
    expect([status, text]).toEqual([404, expect.stringContaining("<h1>There is nothing here</h1>")]);
    expect(text).toContain("Check the address, or begin on the first page.");
    expect(text).toContain("Go to the first page</a>");
    for (const path of ["/portal", "/portal/sign-in", "/portal/nothing"])
      expect((await service.ask(path, { host: "own.example.org" })).status).toBe(404);
  });

  it("signs out, and in again to where the visitor wanted to go", async () => {
    const person = visitor(service.port);
    await person.submit("/portal/sign-up", { email: "again@example.com", password });
    await person.submit("/portal/keys", {}, "/portal/sign-out");
    const refused = await person.get("/portal/keys");
    expect(refused.status).toBe(303);
    expect(refused.headers.location).toBe("/portal/sign-in?next=%2Fportal%2Fkeys");
    const back = await person.submit(
      String(refused.headers.location),
      {
        email: "Again@Example.com",
        password,
        next: "/portal/keys",
      },
      "/portal/sign-in",
    );
    expect([back.status, back.text]).toEqual([200, expect.stringContaining("<h1>API keys</h1>")]);
  });
});
