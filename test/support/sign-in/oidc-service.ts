// A service with a certified OpenID provider beside it, both on loopback, and browsers that sign in there.

import { FIREFOX, type Visitor, visitor } from "../portal/browser-like.ts";
import { freePort } from "../servers/free-port.ts";
import type { Answer } from "../service/ask.ts";
import { startTestService } from "../service/start-service.ts";
import { type CookieJar, type ProviderPerson, startProvider } from "./openid-provider.ts";

export type OidcService = Awaited<ReturnType<typeof startOidcService>>;
/** `there`: their cookies of the provider. */
export type OidcVisitor = Visitor & { there: CookieJar };

export async function startOidcService(
  environment: Record<string, string> = {},
  { clock, sendsSid = true }: { clock?: () => Date; sendsSid?: boolean } = {},
) {
  const port = await freePort();
  const provider = await startProvider("http://localhost/portal/oidc/callback", {
    backchannel: `http://127.0.0.1:${port}/portal/oidc/logout`,
    sendsSid,
  });
  const service = await startTestService(
    {
      PORT: String(port),
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
      OIDC_SCOPES: "openid email profile groups",
      OIDC_NAME: "Acme",
      ...environment,
    },
    clock,
  );
  const at = (url: URL) => `${url.pathname}${url.search}`;
  return {
    ...service,
    provider,
    browser: (): OidcVisitor => ({ ...visitor(service.port, { userAgent: FIREFOX }), there: new Map() }),
    /** The address at the provider that the browser is sent to. */
    async begin(browser: Visitor, next = "/portal"): Promise<string> {
      const begun = await browser.get(`/portal/oidc?next=${encodeURIComponent(next)}`);
      return String(begun.headers.location);
    },
    /** The way back from the provider, not gone yet. */
    async wayBack(browser: OidcVisitor, person: ProviderPerson, next?: string): Promise<string> {
      const url = await this.begin(browser, next);
      provider.person = person;
      return at(await provider.signIn(url, browser.there));
    },
    /** The whole way; answers the last page. */
    async signIn(browser: OidcVisitor, person: ProviderPerson, next?: string): Promise<Answer<unknown>> {
      return await browser.follow(await browser.get(await this.wayBack(browser, person, next)));
    },
    async stop() {
      await service.stop();
      await provider.close();
    },
  };
}

/** Somebody with a proven address. */
export function personThere(sub: string, more: Record<string, unknown> = {}): ProviderPerson {
  return { sub, claims: { email: `${sub}@people.example`, email_verified: true, name: sub, ...more } };
}
