// The web portal: what all of its pages share, then the routes of each page, and the console beside it.
import type { Api } from "../api/fastify.ts";
import { Refused } from "../commands/refusals.ts";
import { openExports } from "../limits/exports.ts";
import { accountsToSwitch } from "../queries/people.ts";
import { orUndefined } from "../stores/connections/errors.ts";
import { accountChanges, exportRoute } from "./account/account-changes.ts";
import { accountPage } from "./account/account-page.ts";
import { domainsPages } from "./account/domains-page.ts";
import { keysPages } from "./account/keys-pages.ts";
import { planPages } from "./account/plan-page.ts";
import { accountAddresses } from "./account-address.ts";
import { consoleRoutes } from "./admin/console.ts";
import { analyticsPage } from "./analytics/analytics-page.ts";
import { dashboardPage } from "./analytics/dashboard-page.ts";
import { exportRoutes } from "./analytics/export-routes.ts";
import { liveNumbers } from "./analytics/live-numbers.ts";
import { whyPage } from "./analytics/why-page.ts";
import { passwordsOff, resetPages } from "./auth/reset-pages.ts";
import { signInPages } from "./auth/sign-in-pages.ts";
import { signUpPages } from "./auth/sign-up-pages.ts";
import { knownDevices } from "./auth/start-session.ts";
import { linksPages } from "./link-list/links-page.ts";
import { manyLinksPage } from "./link-list/many-links-page.ts";
import { tagsPage } from "./link-list/tags-page.ts";
import { explainPage } from "./links/explain-page.ts";
import { linkPages } from "./links/link-page.ts";
import { newLinkPage } from "./links/new-link-page.ts";
import { accountsPages } from "./members/accounts-page.ts";
import { invitationPages } from "./members/invitation-page.ts";
import { membersPages } from "./members/members-page.ts";
import { newsForm } from "./members/news.ts";
import type { PortalDeps, Watched } from "./portal-deps.ts";
import { identityChanges } from "./profile/identity-changes.ts";
import { passkeyChanges } from "./profile/passkey-changes.ts";
import { emailConfirmation, profileChanges } from "./profile/profile-changes.ts";
import { profilePage } from "./profile/profile-page.ts";
import { rightRoutes } from "./route-rights.ts";
import { proofPages } from "./shared/proof-pages.ts";
import { sharedPage } from "./shared/shared-page.ts";
import { sharingPages } from "./shared/sharing-page.ts";
import { stopMailPage } from "./shared/stop-mail-page.ts";
import { assetRoutes, portalAssets } from "./shell/assets.ts";
import { errorPages } from "./shell/error-page.ts";
import { landingPage } from "./shell/landing-page.ts";
import { hideFromOpenApi, protect } from "./shell/protect.ts";
import { portalCookies, themeRoute, visitHook } from "./shell/request-visit.ts";
import { sessions } from "./shell/sessions.ts";
import { statusPage } from "./shell/status-page.ts";
import { deliveryPages } from "./webhooks/deliveries.ts";
import { webhookPage } from "./webhooks/webhook-page.ts";
import { webhooksPage } from "./webhooks/webhooks-page.ts";

const PREFIX = "/portal";

/** Registers everything under /portal and /admin, the landing page `/` and `/status`. `base`: serves the base host only. */
export async function portalRoutes(base: Api, deps: PortalDeps & Watched): Promise<void> {
  const assets = portalAssets(PREFIX);
  const signedIn = sessions({ ...deps, currentAccount: deps.links.currentAccount });
  await base.register(async (site: Api) => {
    hideFromOpenApi(site);
    await protect(site, deps);
    const portal = { ...deps, sessions: signedIn, devices: knownDevices(deps) };
    const cookies = portalCookies(deps.baseUrl);
    visitHook(site, {
      home: PREFIX,
      sellsPlans: deps.planPrice !== undefined,
      isSignUpOpen: deps.signUp === "open",
      async signedIn(sent, accountId) {
        const visitor = await portal.sessions.find(sent[cookies.session], accountId);
        if (!visitor) return {};
        const accounts = await orUndefined(accountsToSwitch(deps, visitor.person.personId));
        return { ...visitor, accounts: accounts ?? [] };
      },
      assets,
      cookies,
    });
    errorPages(site);
    landingPage(site, deps);
    statusPage(site, deps);
    sharedPage(site, deps);
    await site.register(async (strangers: Api) => stopMailPage(strangers, deps));
    await site.register(
      async (app: Api) => {
        rightRoutes(app);
        accountAddresses(app);
        await assetRoutes(app, assets);
        const exports = openExports(deps);
        app.addHook("preClose", async () => exports.close());
        app.setNotFoundHandler(() => {
          throw new Refused("not_found");
        });
        themeRoute(app);
        signInPages(app, portal);
        if (deps.signIn.includes("password")) {
          signUpPages(app, portal);
          resetPages(app, portal);
        } else passwordsOff(app);
        dashboardPage(app, portal);
        analyticsPage(app, portal);
        whyPage(app, portal);
        sharingPages(app, portal);
        liveNumbers(app, {
          ...portal,
          findSession: async (sent, accountId) =>
            (await portal.sessions.find(sent[cookies.session], accountId))?.session,
        });
        newLinkPage(app, portal);
        manyLinksPage(app, portal);
        tagsPage(app, portal);
        linksPages(app, { ...portal, exports });
        linkPages(app, portal);
        explainPage(app, portal);
        exportRoutes(app, { ...portal, exports });
        proofPages(app, { ...portal, exports });
        membersPages(app, portal);
        invitationPages(app, portal);
        accountsPages(app, portal);
        newsForm(app, portal);
        keysPages(app, portal);
        webhooksPage(app, portal);
        webhookPage(app, portal);
        deliveryPages(app, portal);
        planPages(app, portal);
        domainsPages(app, portal);
        accountPage(app, portal);
        accountChanges(app, portal);
        profilePage(app, portal);
        profileChanges(app, portal);
        passkeyChanges(app, portal);
        identityChanges(app, portal);
        emailConfirmation(app, portal);
        exportRoute(app, { ...portal, exports });
      },
      { prefix: PREFIX },
    );
  });
  await base.register((site: Api) => consoleRoutes(site, { ...deps, sessions: signedIn }, assets));
}
