// API keys with bounds in the portal: what a person chooses is what the key may do, and a refused form keeps it.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signedUp, type Visitor } from "../../support/portal/browser-like.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const KEY = /ll_[A-Za-z0-9]{32}/;
const DAY_MS = 86_400_000;
let now = Date.parse("2026-05-01T00:00:00Z");

describe("the page of API keys", { timeout: 60_000 }, () => {
  let service: TestService;
  let person: Visitor;
  beforeAll(async () => {
    service = await startTestService({}, () => new Date(now));
    person = await signedUp(service.port, "keys@example.com");
  });
  afterAll(() => service.stop());

  const keyIn = ({ text }: { text: string }) => KEY.exec(text)?.[0] ?? "";
  const status = async (key: string, path = "/api/v1/links") => (await service.ask(path, { key })).status;

  it("issues a key that may do what was ticked, until the chosen day, and says so in the list", async () => {
    const issued = await person.post("/portal/keys", [
      ["label", "Reports"],
      ["scopes", ""],
      ["scopes", "links:read"],
      ["lifetime", "7"],
      ["networks", "127.0.0.0/8, ::1\n203.0.113.0/24"],
    ]);
    const key = keyIn(issued);
    expect([await status(key), await status(key, "/api/v1/analytics/nosuch0")]).toEqual([200, 403]);
    const { text } = await person.get("/portal/keys");
    expect(text).toContain("links:read, from 127.0.0.0/8, from ::1/128, from 203.0.113.0/24");
    expect(text).toMatch(/until <time datetime="2026-05-08T00:00:00\.000Z"/);
    now += 7 * DAY_MS;
    expect(await status(key)).toBe(401);
    expect((await person.get("/portal/keys")).text).toContain(">Expired<");
  });

  it("says beside the field which network is none, and keeps what was typed and ticked", async () => {
    const { status: refused, text } = await person.post("/portal/keys", [
      ["label", "Typed label"],
      ["scopes", ""],
      ["scopes", "links:write"],
      ["lifetime", "30"],
      ["networks", "10.0.0.0/33"],
    ]);
    expect(refused).toBe(400);
    expect(text).toContain("10.0.0.0/33 is no network");
    expect(text).toContain('value="Typed label"');
    expect(text).toMatch(/value="links:write" checked/);
    expect(text).not.toMatch(/value="links:read" checked/);
    expect(text).toMatch(/<option value="30" selected/);
    expect(text).toMatch(/<textarea[^>]*name="networks"[^>]*>\n10\.0\.0\.0\/33</);
  });

  it("issues no key of which nothing is ticked", async () => {
    const { status: refused, text } = await person.post("/portal/keys", { label: "None", scopes: "" });
    expect([refused, text.includes("A key has at least one scope")]).toEqual([400, true]);
  });

  it("rotates a key once a form: the text before is accepted for a day", async () => {
    const first = keyIn(await person.post("/portal/keys", { label: "Website" }));
    const { text } = await person.get("/portal/keys");
    const [, path = ""] =
      new RegExp(`action="(/portal/keys/[^"]+/rotate)"[^>]*><input[^>]*value="${first.slice(-4)}"`).exec(
        text,
      ) ?? [];
    const rotated = await person.post(path, { hint: first.slice(-4) });
    const second = keyIn(rotated);
    expect(rotated.text).toContain("is accepted until");
    expect(second).not.toBe(first);
    await person.post(path, { hint: first.slice(-4) });
    expect((await person.get("/portal/keys")).text).toContain("This key was issued already");
    expect([await status(first), await status(second)]).toEqual([200, 200]);
    now += DAY_MS;
    expect([await status(first), await status(second)]).toEqual([401, 200]);
  });
});
