// Who signs in at a provider alone, and has no password to type, proves there that they still sit at their browser.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sessionSecret } from "../../../src/commands/people/secrets.ts";
import { decoded } from "../../support/portal/browser-like.ts";
import {
  type OidcService,
  type OidcVisitor,
  personThere,
  startOidcService,
} from "../../support/sign-in/oidc-service.ts";

const ELEVEN_MINUTES_MS = 11 * 60_000;
const AGAIN = "/portal/sign-in?next=%2Fportal%2Fprofile&again=1";

describe("somebody without a password", () => {
  let service: OidcService;
  beforeAll(async () => {
    service = await startOidcService({ OIDC_JOIN: "account" });
  });
  afterAll(() => service.stop());

  /** As if the provider had asked them eleven minutes earlier than it did, and they had come here then, or only now. */
  async function wait({ cookies }: OidcVisitor, { isHereSinceThen = true } = {}): Promise<void> {
    const { secrets } = service.backend;
    const [personId = ""] = cookies.get("linkledger-session")?.split(".") ?? [];
    for (const { key, value } of await secrets.list(sessionSecret(personId, ""), new Date())) {
      const { createdAt, provider, ...others } = value as {
        createdAt: string;
        provider: { authenticatedAt?: number };
      };
      const { authenticatedAt } = provider;
      const earlier = authenticatedAt && authenticatedAt - ELEVEN_MINUTES_MS / 1_000;
      await secrets.put(key, {
        value: {
          ...others,
          createdAt: isHereSinceThen
            ? new Date(Date.parse(createdAt) - ELEVEN_MINUTES_MS).toISOString()
            : createdAt,
          provider: { ...provider, ...(earlier !== undefined && { authenticatedAt: earlier }) },
        },
      });
    }
  }

  it("keeps the time of their sign-in through a new password, and that of the provider, which is asked for it", async () => {
    const browser = service.browser();
    await service.signIn(browser, personThere("lee"));
    const session = async () => {
      const [personId = ""] = browser.cookies.get("linkledger-session")?.split(".") ?? [];
      const [stored] = await service.backend.secrets.list(sessionSecret(personId, ""), new Date());
      return stored?.value as { createdAt: string; provider: { authenticatedAt?: number } };
    };
    const { createdAt, provider } = await session();
    expect(provider.authenticatedAt).toBeGreaterThan(Date.now() / 1_000 - 60);
    expect((await browser.post("/portal/profile/password", { wanted: "nine blue foxes" })).status).toBe(303);
    expect((await session()).createdAt).toBe(createdAt);
    expect((await browser.get("/portal/profile")).status).toBe(200);
  });

  it("changes what matters right after a sign-in at the provider, which asks them anew, and not later", async () => {
    const browser = service.browser();
    await service.signIn(browser, personThere("kim"));
    const change = async (email: string) => (await browser.post("/portal/profile/email", { email })).status;
    expect(await change("kim-1@people.example")).toBe(303);
    await wait(browser);
    expect(await change("kim-2@people.example")).toBe(403);
    const profile = decoded((await browser.get("/portal/profile")).text);
    expect([profile.includes(AGAIN), profile.includes("new-email")]).toEqual([true, false]);

    const page = decoded((await browser.get(AGAIN)).text);
    const [, link = ""] = /href="(\/portal\/oidc\?[^"]+)"/.exec(page) ?? [];
    const there = new URL(String((await browser.get(link)).headers.location));
    expect([there.searchParams.get("prompt"), there.searchParams.get("max_age")]).toEqual(["login", "0"]);
    const back = await service.provider.signIn(there.href, browser.there);
    const landed = await browser.follow(await browser.get(`${back.pathname}${back.search}`));
    expect(landed.text).toContain("<h1>Profile</h1>");
    expect(await change("kim-3@people.example")).toBe(303);

    // As one whom the provider has let in by an old session of its own.
    await wait(browser, { isHereSinceThen: false });
    expect(await change("kim-4@people.example")).toBe(403);
  });
});
