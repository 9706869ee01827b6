// The web portal: headers, cookies, forms' protection and errors once, then each page's routes, registered by hand.
import cookie from "@fastify/cookie";
import csrfProtection from "@fastify/csrf-protection";
import formbody from "@fastify/formbody";
import helmet from "@fastify/helmet";
import { RouteNotFound } from "../api/errors.ts";
import type { Api } from "../api/fastify.ts";
import { accountChanges } from "./account-changes.ts";
import { accountPage } from "./account-page.ts";
import { type Assets, assetRoutes } from "./assets.ts";
import { limitChanges } from "./change-limit.ts";
import { clickExportRoutes } from "./click-export.ts";
import { closeAccountRoute } from "./close-account-route.ts";
import { portalCookies } from "./cookies.ts";
import { dashboardPage } from "./dashboard-page.ts";
import { domainsPages } from "./domains-pages.ts";
import { errorPages } from "./error-page.ts";
import { exportRoute } from "./export-route.ts";
import { exportStreams } from "./export-streams.ts";
import { keysPages } from "./keys-pages.ts";
import { knownDevices } from "./known-devices.ts";
import { landingPage } from "./landing-page.ts";
import { linkAnalyticsPage } from "./link-analytics-page.ts";
import { linkLiveRoute } from "./link-live.ts";
import { linkPages } from "./link-pages.ts";
import { linksPages } from "./links-page.ts";
import { mailedSignUpPages } from "./mailed-sign-up-pages.ts";
import { passwordWork } from "./password-work.ts";
import { planPages } from "./plan-page.ts";
import type { PortalDeps } from "./portal-deps.ts";
import { resetPages } from "./reset-pages.ts";
import { sessions } from "./sessions.ts";
import { signInPages } from "./sign-in-pages.ts";
import { signUpPages } from "./sign-up-pages.ts";
import { themeRoute } from "./theme-route.ts";
import { formOwner, visitHook } from "./visit.ts";
import { webhookChanges } from "./webhook-changes.ts";
import { webhookPage } from "./webhook-page.ts";
import { webhooksPage } from "./webhooks-page.ts";

const PREFIX = "/portal";
const FORM_LIMIT_BYTES = 64 * 1024;

/** On the base host only. Everything under /portal, and the landing page at `/`. */
export async function portalRoutes(base: Api, deps: PortalDeps): Promise<void> {
  await base.register(async (site: Api) => {
    hideFromOpenApi(site);
    await protect(site, deps);
    limitChanges(site, deps);
    const assets = promisedAssets();
    const people = { sessions: sessions(deps), devices: knownDevices(deps), passwordWork: passwordWork() };
    const portal = { ...deps, ...people };
    visitHook(site, { sessions: portal.sessions, assets: assets.get, cookies: portalCookies(deps.baseUrl) });
    errorPages(site);
    landingPage(site, deps);
    await site.register(
      async (app: Api) => {
        assets.set(await assetRoutes(app, PREFIX));
        const exports = exportStreams();
        app.addHook("preClose", async () => exports.close());
        app.setNotFoundHandler(() => {
          throw new RouteNotFound();
        });
        themeRoute(app);
        if (deps.mailer) mailedSignUpPages(app, { ...portal, mailer: deps.mailer });
        else signUpPages(app, portal);
        signInPages(app, portal);
        resetPages(app, portal);
        dashboardPage(app, portal);
        linksPages(app, portal);
        linkPages(app, portal);
        linkAnalyticsPage(app, portal);
        linkLiveRoute(app, portal);
        clickExportRoutes(app, { ...portal, exports });
        keysPages(app, portal);
        webhooksPage(app, portal);
        webhookPage(app, portal);
        webhookChanges(app, portal);
        planPages(app, portal);
        domainsPages(app, portal);
        accountPage(app, portal);
        accountChanges(app, portal);
        exportRoute(app, { ...portal, exports });
        closeAccountRoute(app, portal);
      },
      { prefix: PREFIX },
    );
  });
}

/** Scripts and styles are our own files only; a form without its token is refused before its route. */
async function protect(site: Api, { baseUrl, secretKey }: PortalDeps): Promise<void> {
  const isSecure = baseUrl.startsWith("https:");
  const own = ["'self'"];
  await site.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: own,
        imgSrc: ["'self'", "data:"],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
        formAction: own,
      },
    },
    strictTransportSecurity: isSecure ? { maxAge: 31_536_000, includeSubDomains: false } : false,
    referrerPolicy: { policy: "same-origin" },
    xFrameOptions: { action: "deny" },
  });
  await site.register(cookie);
  site.removeAllContentTypeParsers();
  await site.register(formbody, { bodyLimit: FORM_LIMIT_BYTES });
  const cookies = portalCookies(baseUrl);
  await site.register(csrfProtection, {
    cookieKey: cookies.forms,
    cookieOpts: cookies.options,
    csrfOpts: { hmacKey: secretKey, userInfo: true },
    getUserInfo: (request) => formOwner(request.visit),
    getToken: (request) => (request.body as { _csrf?: string } | undefined)?._csrf,
  });
  // Before validation, which leaves in the body what the route knows.
  site.addHook("preValidation", (request, reply, done) => {
    if (request.method === "GET" || request.method === "HEAD") return done();
    return site.csrfProtection(request, reply, done);
  });
}

/** The document is the API's. */
function hideFromOpenApi(site: Api): void {
  site.addHook("onRoute", (route) => {
    route.schema = { ...route.schema, hide: true };
  });
}

/** Pages are answered only after every route is registered, the assets' too. */
function promisedAssets() {
  let assets: Assets | undefined;
  return {
    set: (found: Assets) => {
      assets = found;
    },
    get: (): Assets => {
      if (!assets) throw new Error("The assets are not registered yet");
      return assets;
    },
  };
}
