// Logout tokens of a provider: whose sessions they end, and what is not one.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type LogoutTokenVerifier, logoutTokenVerifier } from "../../../src/sign-in/oidc/logout-token.ts";

const ISSUER = "https://people.example/realm";
const EVENTS = { "http://schemas.openid.net/event/backchannel-logout": {} };
const NOW = Date.UTC(2026, 10, 29, 12);
const seconds = Math.floor(NOW / 1000);

describe("a logout token", () => {
  let server: Server;
  let key: CryptoKey;
  let verify: LogoutTokenVerifier;

  beforeEach(async () => {
    const pair = await generateKeyPair("RS256", { extractable: true });
    key = pair.privateKey;
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: "k", alg: "RS256", use: "sig" };
    server = createServer((_, response) => {
      response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: [jwk] }));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const jwksUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    verify = logoutTokenVerifier({ issuer: ISSUER, clientId: "linkledger", jwksUri }, () => new Date(NOW));
  });
  afterEach(() => server.close());

  const good = {
    iss: ISSUER,
    aud: "linkledger",
    iat: seconds,
    jti: "1",
    sub: "anna",
    sid: "s",
    events: EVENTS,
  };
  const signed = (claims: object, header: object = {}) =>
    new SignJWT({ ...good, ...claims }).setProtectedHeader({ alg: "RS256", kid: "k", ...header }).sign(key);

  it("names a session, or with its subject alone all of them", async () => {
    expect(await verify(await signed({}))).toEqual({
      ...{ issuer: ISSUER, subject: "anna", sid: "s" },
      issuedAt: seconds,
    });
    expect(await verify(await signed({ sid: undefined }, { typ: "logout+jwt" }))).toMatchObject({
      sid: undefined,
    });
    expect(await verify(await signed({ sub: undefined }, { typ: "JWT" }))).toMatchObject({
      subject: undefined,
      sid: "s",
    });
    expect(await verify(await signed({ exp: seconds - 100, iat: seconds - 3_000 }))).toMatchObject({
      sid: "s",
    });
  });

  it.each<[string, object]>([
    ["of another issuer", { iss: `${ISSUER}/` }],
    ["for another client", { aud: "other" }],
    ["without an event", { events: undefined }],
    [
      "whose event is null",
      { events: { ...EVENTS, "http://schemas.openid.net/event/backchannel-logout": null } },
    ],
    ["with a nonce, as ID tokens have", { nonce: "n" }],
    ["that names nobody", { sub: undefined, sid: undefined }],
    ["without an id", { jti: undefined }],
    ["that has ended", { exp: seconds - 200 }],
    ["that is old and has no end", { iat: seconds - 600 }],
  ])("is refused %s", async (_, claims) => {
    await expect(verify(await signed(claims))).rejects.toMatchObject({ code: "provider_refused" });
  });

  it("is refused unsigned, signed by what both sides know, and of another type", async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const unsigned = `${part({ alg: "none" })}.${part(good)}.`;
    const shared = await new SignJWT(good)
      .setProtectedHeader({ alg: "HS256" })
      .sign(Buffer.from("a-secret-of-the-client-that-is-long-enough"));
    for (const token of ["", "a.b.c", unsigned, shared, await signed({}, { typ: "at+jwt" })])
      await expect(verify(token)).rejects.toMatchObject({ code: "provider_refused" });
  });
});
