// A certified OpenID provider on loopback, whose people sign in by being named: no page is shown. It can be made to stall, to
// rotate its keys and to say what real ones say.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";

/** `claims`: beside `sub`, as the provider sends them. */
export type ProviderPerson = { sub: string; claims: Record<string, unknown> };

export type LoopbackProvider = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Who signs in next. */
  person: ProviderPerson;
  /** Whether it answers; it holds connections open where it doesn't. */
  stalls: boolean;
  keyIds(): Promise<string[]>;
  rotateKeys(): Promise<void>;
  /** Follows the redirects that a browser would follow, to the address at the service that it ends with. */
  signIn(authorizationUrl: string, browser?: CookieJar): Promise<URL>;
  /** Ends the session there; back-channel logouts have been answered by then. */
  signOut(endSessionUrl: string, browser: CookieJar): Promise<URL>;
  /** That it has sent. */
  logoutTokens: string[];
  /** Of the requests that it has got. */
  requests: string[];
  close(): Promise<void>;
};

/** Of a browser, as far as the provider set them. */
export type CookieJar = Map<string, string>;

const MOST_REDIRECTS = 12;

export async function startProvider(
  redirectUri: string,
  { backchannel, sendsSid = true }: { backchannel?: string; sendsSid?: boolean } = {},
): Promise<LoopbackProvider> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { client_id: "linkledger", client_secret: "a-secret-of-the-client" };
  let answer = await provider();

  async function provider() {
    const { privateKey } = await generateKeyPair("RS256", { extractable: true, modulusLength: 2048 });
    const key = { ...(await exportJWK(privateKey)), use: "sig", alg: "RS256", kid: crypto.randomUUID() };
    const oidc = new Provider(issuer, {
      clients: [
        {
          ...client,
          redirect_uris: [redirectUri],
          post_logout_redirect_uris: [new URL("/portal/signed-out", redirectUri).href],
          ...(backchannel && {
            backchannel_logout_uri: backchannel,
            backchannel_logout_session_required: sendsSid,
          }),
        },
      ],
      jwks: { keys: [key] },
      scopes: ["openid", "email", "profile", "groups"],
      claims: {
        openid: ["sub", "sid"],
        email: ["email", "email_verified"],
        profile: ["name"],
        groups: ["groups", "hasgroups"],
      },
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: {
          logoutSource: async (ctx, form) => {
            ctx.body = form.replace("</form>", '<input type="hidden" name="logout" value="yes"/></form>');
          },
        },
      },
      cookies: { keys: ["a key of the cookies"] },
      // So short that a clock which is off is noticed.
      ttl: { IdToken: 60 },
      interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
      findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ ...state.person.claims, sub }) }),
      loadExistingGrant: async (ctx) => {
        const grant = new ctx.oidc.provider.Grant({
          clientId: client.client_id,
          accountId: ctx.oidc.session?.accountId ?? "",
        });
        grant.addOIDCScope("openid email profile groups");
        await grant.save();
        return grant;
      },
      // The library refuses addresses on loopback otherwise.
      fetch: (url, options) => {
        const token = new URLSearchParams(String(options?.body ?? "")).get("logout_token");
        if (token !== null) state.logoutTokens.push(token);
        return fetch(url, withoutDispatcher(options));
      },
    });
    const callback = oidc.callback();
    return async (request: IncomingMessage, response: ServerResponse) => {
      if (request.url?.startsWith("/interaction/")) {
        const login = { accountId: state.person.sub };
        await oidc.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
      } else await callback(request, response);
    };
  }

  const state: LoopbackProvider = {
    issuer,
    clientId: client.client_id,
    clientSecret: client.client_secret,
    person: { sub: "anna", claims: { email: "anna@people.example", email_verified: true, name: "Anna" } },
    stalls: false,
    requests: [],
    async keyIds() {
      const { keys } = (await (await fetch(`${issuer}/jwks`)).json()) as { keys: { kid: string }[] };
      return keys.map(({ kid }) => kid);
    },
    async rotateKeys() {
      answer = await provider();
    },
    logoutTokens: [],
    signIn: (url, browser = new Map()) => followedTo(new URL(url), new URL(redirectUri).origin, browser),
    async signOut(url, browser) {
      const page = await ask(new URL(url), browser);
      const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1] ?? "";
      const [, action = ""] = /action="([^"]*)"/.exec(page.text) ?? [];
      const body = new URLSearchParams({ xsrf: field("xsrf"), logout: "yes" });
      const { location } = await ask(new URL(action), browser, body);
      return await followedTo(new URL(location ?? "", url), new URL(redirectUri).origin, browser);
    },
    close: () => closed(server),
  };
  server.on("request", (request, response) => {
    state.requests.push(`${request.method} ${request.url?.split("?")[0]}`);
    if (!state.stalls) void answer(request, response);
  });
  return state;
}

function withoutDispatcher(options: RequestInit & { dispatcher?: unknown } = {}): RequestInit {
  const { dispatcher: _, ...others } = options;
  return others;
}

/** As a browser without a page: it keeps cookies and follows redirects until one leaves the provider. */
async function followedTo(start: URL, end: string, browser: CookieJar): Promise<URL> {
  let url = start;
  for (let redirects = 0; redirects < MOST_REDIRECTS; redirects++) {
    if (url.origin === end) return url;
    const { status, location, text } = await ask(url, browser);
    if (location === null) throw new Error(`${status} of ${url}: ${text}`);
    url = new URL(location, url);
  }
  throw new Error(`too many redirects from ${start}`);
}

async function ask(url: URL, browser: CookieJar, body?: URLSearchParams) {
  const cookie = [...browser].map(([name, value]) => `${name}=${value}`).join("; ");
  const method = body ? "POST" : "GET";
  const response = await fetch(url, {
    redirect: "manual",
    headers: { cookie },
    method,
    ...(body && { body }),
  });
  for (const line of response.headers.getSetCookie()) {
    const [pair = ""] = line.split(";");
    const at = pair.indexOf("=");
    browser.set(pair.slice(0, at), pair.slice(at + 1));
  }
  return { status: response.status, location: response.headers.get("location"), text: await response.text() };
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}
