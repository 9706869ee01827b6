// The console of operators and auditors under /admin: pages, and the same as JSON under /admin/api.
import type { Api } from "../../api/fastify.ts";
import { Refused } from "../../runtime/refused.ts";
import type { Operating, PortalDeps } from "../portal-deps.ts";
import type { Assets } from "../shell/assets.ts";
import { errorPages } from "../shell/error-page.ts";
import { hideFromOpenApi, protect } from "../shell/protect.ts";
import { portalCookies, themeRoute, visitHook } from "../shell/visit.ts";
import { accountPage } from "./accounts/account-page.ts";
import { accountsPages } from "./accounts/accounts-page.ts";
import { accountRoutes } from "./api/account-routes.ts";
import { actRoutes } from "./api/act-routes.ts";
import { readRoutes } from "./api/read-routes.ts";
import { withdrawalRoutes } from "./api/withdrawal-routes.ts";
import { type ConsoleDeps, operatorApi, operatorPages } from "./guard.ts";
import { blockRoutes } from "./links/block-card.ts";
import { liveRates } from "./live-rates.ts";
import { clicksPage } from "./log/clicks-page.ts";
import { eventPage } from "./log/event-page.ts";
import { explainPage } from "./log/explain-page.ts";
import { findPages } from "./log/find-page.ts";
import { statePage } from "./log/state-page.ts";
import { streamsPages } from "./log/streams-page.ts";
import { operatorSessions } from "./operator-session.ts";
import { overviewPage } from "./overview-page.ts";
import { projectionPages } from "./projections/projection-page.ts";
import { projectionsPage } from "./projections/projections-page.ts";
import { sealsPages } from "./seals-page.ts";
import { signInPages } from "./sign-in-pages.ts";
import { withdrawalsPages } from "./withdrawals/withdrawals-page.ts";

const PREFIX = "/admin";

/** `site`: serves the base host only. Without ADMIN_TOKEN it is not called, and every path is 404. */
export async function consoleRoutes(
  site: Api,
  portal: PortalDeps & Operating,
  assets: Assets,
): Promise<void> {
  const operators = operatorSessions(portal);
  const deps: ConsoleDeps = { ...portal, operators };
  const rates = liveRates(deps.projections, () => performance.now());
  hideFromOpenApi(site);
  await protect(site, deps);
  const cookies = portalCookies(deps.baseUrl);
  visitHook(site, {
    home: PREFIX,
    signedIn: async (given) => ({ operator: await operators.find(given[cookies.operator]) }),
    ...{ assets, cookies },
  });
  errorPages(site);
  await site.register(
    async (app: Api) => {
      app.setNotFoundHandler(() => {
        throw new Refused("not_found");
      });
      themeRoute(app);
      signInPages(app, deps);
      await app.register(async (pages: Api) => {
        operatorPages(pages, deps);
        overviewPage(pages, deps);
        accountsPages(pages, deps);
        accountPage(pages, deps);
        streamsPages(pages, deps);
        eventPage(pages, deps);
        statePage(pages, deps);
        findPages(pages, deps);
        clicksPage(pages, deps);
        blockRoutes(pages, deps);
        explainPage(pages, deps);
        withdrawalsPages(pages, deps);
        sealsPages(pages, deps);
        projectionsPage(pages, { ...deps, rates });
        projectionPages(pages, deps);
      });
      await app.register(
        async (api: Api) => {
          operatorApi(api, deps);
          const parse = api.getDefaultJsonParser("error", "error");
          api.addContentTypeParser("application/json", { parseAs: "string", bodyLimit: 4096 }, parse);
          readRoutes(api, { ...deps, rates });
          accountRoutes(api, deps);
          actRoutes(api, deps);
          withdrawalRoutes(api, deps);
        },
        { prefix: "/api" },
      );
    },
    { prefix: PREFIX },
  );
}
