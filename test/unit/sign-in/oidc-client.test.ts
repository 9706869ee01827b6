// Signing in at a provider, against a certified one.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { OidcClient, type OidcSettings } from "../../../src/sign-in/oidc/oidc-client.ts";
import { type LoopbackProvider, startProvider } from "../../support/sign-in/openid-provider.ts";

const BASE_URL = "http://localhost:4999";

describe("signing in at an OpenID provider", () => {
  let provider: LoopbackProvider;
  let now: number;

  beforeEach(async () => {
    provider = await startProvider(`${BASE_URL}/portal/oidc/callback`);
    now = Date.now();
  });
  afterEach(() => provider.close());

  const client = (changes: Partial<OidcSettings> = {}) =>
    new OidcClient({
      clock: () => new Date(now),
      settings: {
        issuer: provider.issuer,
        clientId: provider.clientId,
        clientSecret: provider.clientSecret,
        scopes: "openid email profile groups",
        groupsClaim: "groups",
        baseUrl: BASE_URL,
        ...changes,
      },
    });
  const signIn = async (oidc: OidcClient) => {
    const { url, flow } = await oidc.begin();
    const { search } = await provider.signIn(url);
    return await oidc.finish(search, flow);
  };

  it("answers who it is by issuer and subject, with claims that come from UserInfo", async () => {
    provider.person = {
      sub: "Anna-1",
      claims: {
        email: "Anna@People.example",
        email_verified: true,
        name: "Anna",
        groups: ["staff", "links"],
      },
    };
    expect(await signIn(client())).toMatchObject({
      issuer: provider.issuer,
      subject: "Anna-1",
      email: "Anna@People.example",
      emailVerified: true,
      name: "Anna",
      groups: { known: ["staff", "links"] },
    });
  });

  it.each([[undefined], [false], ["true"], [1]])("takes email_verified %j for no", async (email_verified) => {
    provider.person = { sub: "b", claims: { email: "b@people.example", email_verified } };
    expect(await signIn(client())).toMatchObject({ emailVerified: false });
  });

  it("takes absent groups for none, and says that they are not known where they are cut off or not asked for", async () => {
    expect(await signIn(client())).toMatchObject({ groups: { known: [] } });
    provider.person = { sub: "c", claims: { hasgroups: true, groups: ["one"] } };
    expect(await signIn(client())).toMatchObject({
      groups: { unknown: expect.stringContaining("too many") },
    });
    provider.person = { sub: "c", claims: { groups: ["one"] } };
    expect(await signIn(client({ groupsClaim: undefined }))).toMatchObject({
      groups: { unknown: expect.any(String) },
    });
  });

  it("refuses another flow's answer, a code that was used, and what the provider refuses", async () => {
    const oidc = client();
    const { url, flow } = await oidc.begin();
    const other = await oidc.begin();
    const { search } = await provider.signIn(url);
    const refused = { code: "provider_refused" };
    await expect(oidc.finish(search, other.flow)).rejects.toMatchObject(refused);
    await expect(oidc.finish(search, { ...flow, nonce: other.flow.nonce })).rejects.toMatchObject(refused);
    const again = await oidc.begin();
    const answer = await provider.signIn(again.url);
    await expect(
      oidc.finish(answer.search, { ...again.flow, verifier: flow.verifier }),
    ).rejects.toMatchObject(refused);
    const last = await oidc.begin();
    const good = await provider.signIn(last.url);
    await oidc.finish(good.search, last.flow);
    await expect(oidc.finish(good.search, last.flow)).rejects.toMatchObject(refused);
    const denied = `?error=access_denied&state=${last.flow.state}&iss=${encodeURIComponent(provider.issuer)}`;
    await expect(oidc.finish(denied, last.flow)).rejects.toThrow("cancelled at the provider");
  });

  it("goes on after the provider's keys were rotated", async () => {
    const oidc = client();
    await signIn(oidc);
    const before = await provider.keyIds();
    await provider.rotateKeys();
    expect(await provider.keyIds()).not.toEqual(before);
    expect(await signIn(oidc)).toMatchObject({ subject: "anna" });
  });

  it("waits for a provider that stalls once, and asks it again later", async () => {
    const oidc = client();
    provider.stalls = true;
    const started = performance.now();
    await expect(oidc.begin()).rejects.toMatchObject({ code: "provider_unavailable" });
    expect(oidc.discovery).toMatchObject({ state: "failed" });
    const waited = performance.now() - started;
    expect(waited).toBeLessThan(15_000);
    const asked = provider.requests.length;
    await expect(oidc.begin()).rejects.toMatchObject({ code: "provider_unavailable" });
    expect(provider.requests.length).toBe(asked);
    provider.stalls = false;
    now += 10_000;
    expect(await signIn(oidc)).toMatchObject({ subject: "anna" });
    expect(oidc.discovery).toMatchObject({ state: "discovered", endsSessions: true });
  });

  it("says what is wrong with an issuer that is spelt otherwise", async () => {
    const oidc = client({ issuer: `${provider.issuer}/other` });
    await expect(oidc.begin()).rejects.toMatchObject({ code: "provider_unavailable" });
    expect(oidc.discovery).toMatchObject({ state: "failed", why: expect.stringMatching(/\S/) });
  });

  it("names where to be signed out there, too", async () => {
    const oidc = client();
    const { idToken } = await signIn(oidc);
    const url = new URL((await oidc.endSessionUrl(idToken)) ?? "");
    expect(url.searchParams.get("post_logout_redirect_uri")).toBe(`${BASE_URL}/portal/signed-out`);
    expect(url.searchParams.get("id_token_hint")).toBe(idToken);
  });
});
