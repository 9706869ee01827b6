// Signing in at an OpenID provider over real HTTP, beside a certified one: who gets in as whom, and who doesn't.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { provedEmail } from "../../../src/commands/people/email.ts";
import { decoded, PASSWORD } from "../../support/portal/browser-like.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { startMailReceiver } from "../../support/servers/mail-receiver.ts";
import { onCluster } from "../../support/service/start-service.ts";
import {
  type OidcService,
  type OidcVisitor,
  personThere,
  startOidcService,
} from "../../support/sign-in/oidc-service.ts";

const TOKEN = "an operator's token";
const SESSION = "linkledger-session";
const personOf = (browser: OidcVisitor) => browser.cookies.get(SESSION)?.split(".")[0] ?? "";

describe("signing in at a provider", () => {
  let service: OidcService;
  beforeAll(async () => {
    service = await startOidcService({ OIDC_JOIN: "account", ADMIN_TOKEN: TOKEN });
  });
  afterAll(() => service.stop());

  /** Somebody with a password, whose address a mail has reached where `isProven`. */
  async function local(email: string, isProven: boolean): Promise<OidcVisitor> {
    const browser = service.browser();
    await browser.submit("/portal/sign-up", { email, password: PASSWORD });
    if (isProven) await provedEmail(service.backend, personOf(browser), email);
    return browser;
  }

  it("gives a newcomer an account, and is the same person ever after, whatever their address is", async () => {
    const browser = service.browser();
    const landed = await service.signIn(browser, personThere("anna"), "/portal/links");
    expect(landed.text).toContain("<h1>Links</h1>");
    const [anna, before] = [personOf(browser), browser.cookies.get(SESSION)];
    // Another session id at every sign-in, whatever the browser sent (session fixation).
    await service.signIn(browser, personThere("anna", { email: "Anna@Married.example" }));
    expect(personOf(browser)).toBe(anna);
    expect(browser.cookies.get(SESSION)).not.toBe(before);
    expect((await browser.get("/portal/profile")).text).toContain("Anna@Married.example");
    const again = service.browser();
    await service.signIn(again, personThere("anna", { email: undefined }));
    expect(personOf(again)).toBe(anna);
  });

  it("is linked by itself only where both sides have proven the address, in whatever letter case", async () => {
    const proven = await local("ben@people.example", true);
    const unproven = await local("cleo@people.example", false);
    const ben = service.browser();
    await service.signIn(ben, personThere("ben-there", { email: "BEN@people.example" }));
    expect(personOf(ben)).toBe(personOf(proven));
    for (const [person, why] of [
      [personThere("cleo-there", { email: "cleo@people.example" }), "never confirmed here"],
      // Another one with the address, whose issuer is linked already.
      [personThere("ben-other", { email: "ben@people.example" }), "linked to another sign-in"],
      [personThere("d", { email: "ben@people.example", email_verified: false }), "linked to another sign-in"],
      [
        personThere("e", { email: "cleo@people.example", email_verified: "true" }),
        "does not say that the address is verified",
      ],
    ] as const) {
      const stranger = service.browser();
      const refused = await service.signIn(stranger, person);
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining(why)]);
      expect(refused.text).toContain("Sign in with Acme");
      expect(personOf(stranger)).toBe("");
    }
    expect(personOf(unproven)).not.toBe("");
  });

  it("goes on with who has no address, or none that is proven, as somebody of their own", async () => {
    const [first, second] = [service.browser(), service.browser()];
    await service.signIn(first, personThere("f", { email: "shared@people.example", email_verified: false }));
    await service.signIn(second, personThere("g", { email: "shared@people.example" }));
    expect(personOf(first)).not.toBe("");
    expect(personOf(second)).not.toBe(personOf(first));
    expect((await first.get("/portal/links")).status).toBe(200);
    expect((await second.get("/portal/profile")).text).toContain("shared@people.example");
  });

  it("takes an answer from the browser that began it only, and once", async () => {
    const [mallory, victim] = [service.browser(), service.browser()];
    // Login CSRF: Mallory's answer, followed by another browser.
    const way = await service.wayBack(mallory, personThere("mallory"));
    expect((await victim.get(way)).status).toBe(403);
    // Also with a cookie of that name, as a page of a subdomain could plant.
    const [flow = ""] = [...mallory.cookies.keys()].filter((name) => name.includes("oidc-"));
    victim.cookies.set(flow, "planted");
    expect((await victim.get(way)).status).toBe(403);
    expect(personOf(victim)).toBe("");
    // It was not spent for her by that.
    expect((await mallory.get(way)).status).toBe(303);
    // The browser repeats it: its session is there. Without it, the code is worth nothing.
    expect((await mallory.get(way)).headers.location).toBe("/portal");
    mallory.cookies.delete(SESSION);
    const again = await mallory.get(way);
    expect([again.status, again.text]).toEqual([403, expect.stringContaining("begin again")]);
  });

  it("keeps two tabs apart, and refuses states, codes and issuers of elsewhere", async () => {
    const browser = service.browser();
    const first = await service.wayBack(browser, personThere("h"));
    // The provider itself lets the last of a browser's codes work only.
    const second = await service.wayBack({ ...browser, there: new Map() }, personThere("h"));
    expect((await browser.get(first)).status).toBe(303);
    expect((await browser.get(second)).status).toBe(303);
    const changed = async (change: (query: URLSearchParams) => void) => {
      const stranger = service.browser();
      const way = new URL(await service.wayBack(stranger, personThere("h")), "http://localhost");
      change(way.searchParams);
      const answer = await stranger.get(`${way.pathname}${way.search}`);
      expect(personOf(stranger)).toBe("");
      return answer.status;
    };
    const code = new URL(first, "http://localhost").searchParams.get("code") ?? "";
    expect(await changed((query) => query.set("code", code))).toBe(403);
    expect(await changed((query) => query.set("iss", "https://other.example"))).toBe(403);
    expect(await changed((query) => query.set("state", "other"))).toBe(403);
    expect(await changed((query) => query.delete("state"))).toBe(403);
  });

  it("says what the provider said where somebody is refused there, beside the other ways", async () => {
    const browser = service.browser();
    const state = new URL(await service.begin(browser)).searchParams.get("state") ?? "";
    const query = new URLSearchParams({ error: "access_denied", state, iss: service.provider.issuer });
    const { status, text } = await browser.get(`/portal/oidc/callback?${query}`);
    expect([status, text]).toEqual([403, expect.stringContaining("cancelled at the provider")]);
    expect(text).toContain("E-mail address");
  });

  it("leads back into the portal only", async () => {
    for (const next of ["https://evil.example/", "//evil.example", "/\\evil.example", "/portal/../api"]) {
      const browser = service.browser();
      const back = await browser.get(await service.wayBack(browser, personThere("i"), next));
      expect(back.headers.location, next).toBe("/portal");
    }
  });

  it("is linked by a button to who is signed in, who needs their password for it, and to nobody else", async () => {
    const owner = await local("jo@people.example", false);
    const jo = personOf(owner);
    expect((await owner.post("/portal/profile/identities", { password: "wrong" })).status).toBe(403);
    const link = async (browser: OidcVisitor, sub: string) => {
      const page = await browser.post("/portal/profile/identities", { password: PASSWORD });
      const [, url = ""] = /href="(http[^"]+)"/.exec(page.text) ?? [];
      service.provider.person = personThere(sub);
      const back = await service.provider.signIn(decoded(url), browser.there);
      return `${back.pathname}${back.search}`;
    };
    const stranger = await local("kim@people.example", false);
    const way = await link(owner, "jo-there");
    // Somebody else's browser, signed in as somebody else: the foreign identity is not linked.
    expect((await stranger.get(way)).headers.location).toBe("/portal");
    expect((await owner.follow(await owner.get(way))).text).toContain("You sign in with Acme, too");
    const elsewhere = service.browser();
    await service.signIn(elsewhere, personThere("jo-there"));
    expect(personOf(elsewhere)).toBe(jo);
    const taken = await stranger.follow(await stranger.get(await link(stranger, "jo-there")));
    expect(taken.text).toContain("linked to somebody else");
    // Unlinked, its sessions end, and nobody signs in by it as them.
    const [, unlink = ""] =
      /action="(\/portal\/profile\/identities\/[^"]+\/unlink)"/.exec(
        (await owner.get("/portal/profile")).text,
      ) ?? [];
    expect((await owner.post(unlink, { password: PASSWORD })).status).toBe(303);
    expect((await elsewhere.get("/portal/links")).status).toBe(303);
    const after = service.browser();
    await service.signIn(after, personThere("jo-there", { email: undefined }));
    expect(personOf(after)).not.toBe(jo);
  });

  it("can't be unlinked where it is the last way in", async () => {
    const browser = service.browser();
    await service.signIn(browser, personThere("lou"));
    const [, unlink = ""] =
      /action="(\/portal\/profile\/identities\/[^"]+\/unlink)"/.exec(
        (await browser.get("/portal/profile")).text,
      ) ?? [];
    expect(unlink).not.toBe("");
    expect((await browser.post(unlink)).status).toBe(409);
    expect((await browser.get("/portal/links")).status).toBe(200);
  });

  it("goes on after the provider's keys were rotated, and shows the operator what came and what is decided of it", async () => {
    await service.signIn(service.browser(), personThere("max"));
    await service.provider.rotateKeys();
    const browser = service.browser();
    await service.signIn(browser, personThere("max"));
    expect(personOf(browser)).not.toBe("");
    const operator = service.browser();
    await operator.submit("/admin/sign-in", { token: TOKEN });
    const { text } = await operator.get("/admin/provider");
    for (const shown of [
      "Answered",
      "max@people.example",
      "Signs in",
      `${personOf(browser)}`,
      "/portal/oidc/logout",
    ])
      expect(text).toContain(shown);
    expect(text).not.toContain("id_token");
  });

  it("leaves redirects and other sign-ins alone while the provider stalls, says so, and comes back by itself", async () => {
    const { key } = await service.member("free");
    const { body } = await service.post<{ slug: string }>("/api/v1/shorten", key, {
      url: "https://example.com/",
    });
    await local("nia@people.example", true);
    await until(
      "readiness without a problem",
      async () => !(await service.ask("/health/ready")).text.includes("sign-in"),
    );
    const waiting = service.browser();
    const way = await service.wayBack(waiting, personThere("nia"));
    service.provider.stalls = true;
    const stalled = waiting.get(way);
    const nia = service.browser();
    expect(
      (await nia.post("/portal/sign-in", { email: "nia@people.example", password: PASSWORD })).status,
    ).toBe(303);
    expect((await service.ask(`/${body.slug}`)).status).toBe(301);
    expect((await stalled).status).toBe(502);
    service.provider.stalls = false;
    const later = service.browser();
    await service.signIn(later, personThere("nia"));
    expect(personOf(later)).not.toBe("");
  });
});

it.skipIf(onCluster())("the same subject and address at another issuer are somebody else", async () => {
  const folder = await temporaryFolder();
  const settings = { OIDC_JOIN: "account", DATA_DIR: folder.path };
  const signedIn = async (sub: string, email: string) => {
    const service = await startOidcService(settings);
    try {
      const browser = service.browser();
      const { status } = await service.signIn(browser, personThere(sub, { email }));
      return { status, personId: personOf(browser) };
    } finally {
      await service.stop();
    }
  };
  try {
    const first = await signedIn("1", "same@people.example");
    expect(first.personId).not.toBe("");
    // An address that only a provider has proven lets nobody of another one in as them.
    expect(await signedIn("1", "same@people.example")).toEqual({ status: 403, personId: "" });
    const other = await signedIn("1", "other@people.example");
    expect(other.personId).not.toBe("");
    expect(other.personId).not.toBe(first.personId);
  } finally {
    await folder.remove();
  }
});

it("who was here is told of a sign-in that was linked to them by their address", async () => {
  const receiver = await startMailReceiver();
  const service = await startOidcService({ SMTP_URL: receiver.url });
  try {
    const { accountId } = await service.member("free");
    const email = "member-1@example.com";
    await provedEmail(service.backend, accountId, email);
    const browser = service.browser();
    await service.signIn(browser, personThere("one", { email }));
    expect(personOf(browser)).toBe(accountId);
    expect(await receiver.next()).toMatchObject({
      to: email,
      text: expect.stringContaining("There is a new way to sign in"),
    });
  } finally {
    await service.stop();
    await receiver.stop();
  }
});

describe("a service whose provider is set wrong", () => {
  it("starts, signs people in otherwise, is degraded, and says what is wrong", async () => {
    const service = await startOidcService({ OIDC_ISSUER: "http://127.0.0.1:9/x", ADMIN_TOKEN: TOKEN });
    try {
      const browser = service.browser();
      await browser.submit("/portal/sign-up", { email: "one@people.example", password: PASSWORD });
      expect(personOf(browser)).not.toBe("");
      const refused = await service.browser().get("/portal/oidc");
      expect([refused.status, refused.text]).toEqual([502, expect.stringContaining("does not answer")]);
      expect(refused.text).toContain("Password");
      await until("a degraded service", async () => {
        const { status, text } = await service.ask("/health/ready");
        return status === 200 && text.includes("sign-in") && text.includes("degraded");
      });
      const operator = service.browser();
      await operator.submit("/admin/sign-in", { token: TOKEN });
      expect((await operator.get("/admin/provider")).text).toContain("Failed");
    } finally {
      await service.stop();
    }
  });

  it.each([-120, 120])("signs people in while its clock is %d seconds off", async (seconds) => {
    const clock = () => new Date(Date.now() + seconds * 1_000);
    const service = await startOidcService({ OIDC_JOIN: "account" }, { clock });
    try {
      const browser = service.browser();
      await service.signIn(browser, personThere("anna"));
      expect(personOf(browser)).not.toBe("");
    } finally {
      await service.stop();
    }
  });
});
