// The token by which a provider ends sessions here (OpenID Connect Back-Channel Logout 1.0, 2.4 to 2.6).
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from "jose";
import { Refused } from "../../commands/refusals.ts";
import { isObject } from "../../runtime/is-object.ts";

/**
 * Whose sessions end: that of `sid` where it is given, else all of the subject. `issuedAt`: seconds since 1970 by the provider's
 * clock; sessions that began there later are not meant, so that a token that is sent again ends nothing new.
 */
export type ProviderLogout = {
  issuer: string;
  subject: string | undefined;
  sid: string | undefined;
  issuedAt: number;
};

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** No key that both sides share: whoever holds the client's secret could end anybody's sessions. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
const TYPES = new Set(["logout+jwt", "jwt", undefined]);
/** A token without an end is accepted so long after it was made. */
const LASTS_SECONDS = 300;
const CLOCK_TOLERANCE_SECONDS = 150;
const TIMEOUT_MS = 5_000;

export type LogoutTokenVerifier = (token: string) => Promise<ProviderLogout>;

/** The provider's keys are fetched when they are first needed, and again for a key that isn't among them. */
export function logoutTokenVerifier(
  { issuer, clientId, jwksUri }: { issuer: string; clientId: string; jwksUri: string },
  clock: () => Date,
): LogoutTokenVerifier {
  const keys = createRemoteJWKSet(new URL(jwksUri), { timeoutDuration: TIMEOUT_MS });
  /** @throws provider_refused */
  return async (token) => {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        issuer,
        audience: clientId,
        algorithms: ALGORITHMS,
        requiredClaims: ["iat", "jti"],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: clock(),
      });
      if (!TYPES.has(protectedHeader.typ?.toLowerCase())) throw new Error("it has another type");
      return logoutIn(payload, issuer, clock());
    } catch (error) {
      const why = error instanceof Error ? error.message : "unknown";
      throw new Refused("provider_refused", `This logout token is not valid: ${why}`);
    }
  };
}

function logoutIn(payload: JWTPayload, issuer: string, now: Date): ProviderLogout {
  const { events, sub: subject, sid, iat = 0, exp } = payload;
  if (!isObject(events) || !isObject(events[EVENT])) throw new Error("it has no event of a logout");
  if ("nonce" in payload) throw new Error("it has a nonce, as ID tokens have");
  if (subject === undefined && typeof sid !== "string") throw new Error("it names nobody");
  if (exp === undefined && now.getTime() / 1000 - iat > LASTS_SECONDS + CLOCK_TOLERANCE_SECONDS)
    throw new Error("it is too old");
  return { issuer, subject, sid: typeof sid === "string" ? sid : undefined, issuedAt: iat };
}
