// Who somebody is at an OpenID provider: discovery, the code flow with PKCE, and where signing out goes on. What the provider
// does wrong never stops anything else: it is discovered when it is first needed, and is given up after a few seconds.
import * as openid from "openid-client";
import { acceptEmail } from "../../commands/people/email.ts";
import { Refused } from "../../commands/refusals.ts";
import { isObject } from "../../runtime/is-object.ts";
import { CALLBACK_PATH, SIGNED_OUT_PATH } from "../sign-in-flows.ts";
import { type LogoutTokenVerifier, logoutTokenVerifier, type ProviderLogout } from "./logout-token.ts";
import { groupsIn, type ProviderGroups } from "./provider-groups.ts";

/** `issuer`: as the operator has typed it, compared exactly (OpenID Connect Discovery, 4.3). */
export type OidcSettings = {
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  /** Separated by spaces; `openid` is among them. */
  scopes: string;
  groupsClaim: string | undefined;
  /** Of the service, without a slash at the end: never of a request's Host. */
  baseUrl: string;
};

/** What a browser that was sent to the provider must come back with; each is used once (sign-in-flows.ts). */
export type OidcFlow = { state: string; nonce: string; verifier: string };

/**
 * Somebody is who they are by issuer and subject, never by an address. `emailVerified`: only where the provider says so in as
 * many words. `sid`: the session there, for back-channel logout.
 */
export type ProviderIdentity = {
  issuer: string;
  subject: string;
  email: string | undefined;
  emailVerified: boolean;
  name: string | undefined;
  groups: ProviderGroups;
  sid: string | undefined;
  idToken: string;
  /** Of the ID token: seconds since 1970 by the provider's clock. */
  issuedAt: number;
  /** When somebody proved who they are there, where it says so, by the same clock; a session there may be older. */
  authenticatedAt: number | undefined;
  /** All that it sent but tokens, for the operator. */
  claims: Readonly<Record<string, unknown>>;
};

/** For the operator: what discovery answered last, or why it didn't. Times: ISO 8601 UTC. */
export type DiscoveryState =
  | { state: "not asked yet" }
  | { state: "discovered"; at: string; issuer: string; endsSessions: boolean }
  | { state: "failed"; at: string; why: string };

const TIMEOUT_SECONDS = 5;
/** Clocks of providers are off by two minutes now and then. */
const CLOCK_TOLERANCE_SECONDS = 150;
/** So long nobody asks again: whoever signs in soon after it has gone is told so, not led there. */
const DISCOVERED_LASTS_MS = 60_000;
/** So long nobody waits for a provider that didn't answer. */
const FAILURE_LASTS_MS = 10_000;
const ANY_AGE_SECONDS = "31536000";
const GOOGLE = "https://accounts.google.com";
const LONGEST_NAME = 200;

type Deps = { settings: OidcSettings; clock: () => Date };

/** A provider, discovered when it is first asked for. */
export class OidcClient {
  readonly #deps: Deps;
  #discovering: Promise<openid.Configuration> | undefined;
  #discovered: { configuration: openid.Configuration; untilMs: number } | undefined;
  #verifier: { jwksUri: string; verify: LogoutTokenVerifier } | undefined;
  #failedUntilMs = 0;
  #state: DiscoveryState = { state: "not asked yet" };

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  get issuer(): string {
    return this.#deps.settings.issuer;
  }

  get discovery(): DiscoveryState {
    return this.#state;
  }

  /** `isAgain`: not by a session that the browser has there. @throws provider_unavailable */
  async begin({ isAgain = false } = {}): Promise<{ url: string; flow: OidcFlow }> {
    const { settings } = this.#deps;
    const configuration = await this.configuration();
    const flow = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
    };
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: `${settings.baseUrl}${CALLBACK_PATH}`,
      scope: settings.scopes,
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: "S256",
      // With any age asked for, the ID token has to say when they proved who they are (Core, 2): a session there may be older.
      max_age: isAgain ? "0" : ANY_AGE_SECONDS,
      ...(isAgain && { prompt: "login" }),
    });
    return { url: url.href, flow };
  }

  /**
   * `query`: of the request to the callback, with its `?`. Claims that the scopes ask for come from UserInfo (Core, 5.4).
   * @throws provider_unavailable; provider_refused with what the provider said, or what was wrong with its answer
   */
  async finish(query: string, { state, nonce, verifier }: OidcFlow): Promise<ProviderIdentity> {
    const { settings } = this.#deps;
    const configuration = await this.configuration();
    const url = new URL(`${settings.baseUrl}${CALLBACK_PATH}${query}`);
    try {
      const tokens = await openid.authorizationCodeGrant(configuration, url, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims() as openid.IDToken;
      const more = configuration.serverMetadata().userinfo_endpoint
        ? await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)
        : {};
      return identityIn({ ...more, ...claims }, tokens.id_token as string, settings.groupsClaim);
    } catch (error) {
      throw refusal(error);
    }
  }

  /** Where the browser is sent to be signed out there, too; undefined where the provider has no such page. */
  async endSessionUrl(idToken: string): Promise<string | undefined> {
    const configuration = await this.configuration().catch(() => undefined);
    if (!configuration?.serverMetadata().end_session_endpoint) return undefined;
    return openid.buildEndSessionUrl(configuration, {
      id_token_hint: idToken,
      post_logout_redirect_uri: `${this.#deps.settings.baseUrl}${SIGNED_OUT_PATH}`,
    }).href;
  }

  /** @throws provider_refused for one that is not valid, provider_unavailable */
  async verifyLogout(token: string): Promise<ProviderLogout> {
    const { settings, clock } = this.#deps;
    const configuration = await this.configuration();
    const jwksUri = configuration.serverMetadata().jwks_uri;
    if (jwksUri === undefined) throw new Refused("provider_refused", "This provider publishes no keys");
    if (this.#verifier?.jwksUri !== jwksUri)
      this.#verifier = { jwksUri, verify: logoutTokenVerifier({ ...settings, jwksUri }, clock) };
    return await this.#verifier.verify(token);
  }

  /** What discovery said last; asks again in the background where that is over. */
  look(): DiscoveryState {
    this.configuration().catch(() => undefined);
    return this.#state;
  }

  /** Shared by those who ask while it is discovered. @throws provider_unavailable */
  async configuration(): Promise<openid.Configuration> {
    const now = this.#deps.clock().getTime();
    if (this.#discovered && now < this.#discovered.untilMs) return this.#discovered.configuration;
    if (now < this.#failedUntilMs) throw new Refused("provider_unavailable");
    this.#discovering ??= this.#discover().finally(() => {
      this.#discovering = undefined;
    });
    return await this.#discovering;
  }

  async #discover(): Promise<openid.Configuration> {
    const { settings, clock } = this.#deps;
    const issuer = new URL(settings.issuer);
    const at = () => clock().toISOString();
    try {
      const configuration = await openid.discovery(
        issuer,
        settings.clientId,
        {
          [openid.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
          [openid.clockSkew]: Math.round((clock().getTime() - Date.now()) / 1000),
        },
        settings.clientSecret === undefined ? openid.None() : openid.ClientSecretPost(settings.clientSecret),
        {
          timeout: TIMEOUT_SECONDS,
          execute: issuer.protocol === "http:" ? [openid.allowInsecureRequests] : [],
        },
      );
      const { issuer: named, end_session_endpoint } = configuration.serverMetadata();
      // The library takes one with another slash at its end for the same.
      if (named !== settings.issuer)
        throw new Error(`the provider calls itself ${named}, and OIDC_ISSUER is ${settings.issuer}`);
      this.#discovered = { configuration, untilMs: clock().getTime() + DISCOVERED_LASTS_MS };
      const endsSessions = end_session_endpoint !== undefined;
      this.#state = { state: "discovered", at: at(), issuer: named, endsSessions };
      return configuration;
    } catch (error) {
      this.#failedUntilMs = clock().getTime() + FAILURE_LASTS_MS;
      this.#state = { state: "failed", at: at(), why: sentenceOf(error) };
      throw new Refused("provider_unavailable");
    }
  }
}

function identityIn(
  claims: openid.IDToken,
  idToken: string,
  groupsClaim: string | undefined,
): ProviderIdentity {
  const { email, email_verified, name, sid } = claims;
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: addressOf(email),
    emailVerified: email_verified === true && isAuthoritative(claims),
    name: textOf(name)?.slice(0, LONGEST_NAME),
    groups: groupsIn(claims, groupsClaim),
    sid: textOf(sid),
    idToken,
    issuedAt: claims.iat,
    authenticatedAt: typeof claims.auth_time === "number" ? claims.auth_time : undefined,
    claims,
  };
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === "string" && claim.trim() !== "" ? claim.trim() : undefined;
}

/** Google says that it has verified addresses of other providers, too, which may be somebody else's by now. */
function isAuthoritative({ iss, email, hd }: openid.IDToken): boolean {
  return iss !== GOOGLE || hd !== undefined || String(email).toLowerCase().endsWith("@gmail.com");
}

/** What could not be an address here is none. */
function addressOf(claim: unknown): string | undefined {
  try {
    return acceptEmail(textOf(claim) ?? "");
  } catch {
    return undefined;
  }
}

function refusal(error: unknown): Refused {
  if (error instanceof openid.AuthorizationResponseError)
    return new Refused("provider_refused", sayings[error.error] ?? `The provider answered: ${error.error}`);
  const code = isObject(error) ? error.code : undefined;
  if (code === "OAUTH_TIMEOUT" || code === "OAUTH_ABORT" || error instanceof TypeError)
    return new Refused("provider_unavailable");
  return new Refused("provider_refused", sentenceOf(error));
}

/** Of the errors that a provider's page ends in (RFC 6749, 4.1.2.1). */
const sayings: Readonly<Record<string, string>> = {
  access_denied: "The sign-in was cancelled at the provider, or you have no access to this service there",
  temporarily_unavailable: "The provider is not available at the moment: try again later",
};

/** Of the library's errors the innermost that says something, without what the provider sent. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { cause } = error;
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
}
