// The web portal: security headers, cookies, CSRF protection and error pages, then the routes of each page.
import cookie from "@fastify/cookie";
import csrfProtection from "@fastify/csrf-protection";
import formbody from "@fastify/formbody";
import helmet from "@fastify/helmet";
import { RouteNotFound } from "../api/errors.ts";
import type { Api } from "../api/fastify.ts";
import { accountChanges } from "./account/account-changes.ts";
import { accountPage } from "./account/account-page.ts";
import { closeAccountRoute } from "./account/close-account-route.ts";
import { exportRoute } from "./account/export-route.ts";
import { keysPages } from "./account/keys-pages.ts";
import { planPages } from "./account/plan-page.ts";
import { clickExportRoutes } from "./analytics/click-export.ts";
import { dashboardPage } from "./analytics/dashboard-page.ts";
import { exportStreams } from "./analytics/export-streams.ts";
import { linkAnalyticsPage } from "./analytics/link-analytics-page.ts";
import { linkLiveRoute } from "./analytics/link-live.ts";
import { knownDevices } from "./auth/known-devices.ts";
import { mailedSignUpPages } from "./auth/mailed-sign-up-pages.ts";
import { passwordWork } from "./auth/password-work.ts";
import { resetPages } from "./auth/reset-pages.ts";
import { signInPages } from "./auth/sign-in-pages.ts";
import { signUpPages } from "./auth/sign-up-pages.ts";
import { domainsPages } from "./domains/domains-pages.ts";
import { linkPages } from "./links/link-pages.ts";
import { linksPages } from "./links/links-page.ts";
import type { PortalDeps } from "./portal-deps.ts";
import { type Assets, assetRoutes } from "./shell/assets.ts";
import { limitChanges } from "./shell/change-limit.ts";
import { portalCookies } from "./shell/cookies.ts";
import { errorPages } from "./shell/error-page.ts";
import { landingPage } from "./shell/landing-page.ts";
import { sessions } from "./shell/sessions.ts";
import { themeRoute } from "./shell/theme-route.ts";
import { formOwner, visitHook } from "./shell/visit.ts";
import { webhookChanges } from "./webhooks/webhook-changes.ts";
import { webhookPage } from "./webhooks/webhook-page.ts";
import { webhooksPage } from "./webhooks/webhooks-page.ts";

const PREFIX = "/portal";
const FORM_LIMIT_BYTES = 64 * 1024;

/** Registers everything under /portal and the landing page `/`. `base`: serves the base host only. */
export async function portalRoutes(base: Api, deps: PortalDeps): Promise<void> {
  await base.register(async (site: Api) => {
    hideFromOpenApi(site);
    await protect(site, deps);
    limitChanges(site, deps);
    const assets = assetsHolder();
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

/** Security headers, body parsing and CSRF protection. */
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
  // Checked before validation, because a route's schema drops `_csrf` from the body.
  site.addHook("preValidation", (request, reply, done) => {
    if (request.method === "GET" || request.method === "HEAD") return done();
    return site.csrfProtection(request, reply, done);
  });
}

/** The OpenAPI document describes the API only. */
function hideFromOpenApi(site: Api): void {
  site.addHook("onRoute", (route) => {
    route.schema = { ...route.schema, hide: true };
  });
}

/** Holds the assets' URLs: hooks are registered before the asset routes, and need the URLs only per request. */
function assetsHolder() {
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
