// The console of operators and auditors under /admin: pages and forms, and the same questions and commands as JSON under
// /admin/api.
import type { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { Refused } from "../../commands/refusals.ts";
import { type Question, questions } from "../../queries/audit/questions.ts";
import type { PortalDeps, Watched } from "../portal-deps.ts";
import type { Assets } from "../shell/assets.ts";
import { errorPages } from "../shell/error-page.ts";
import { hideFromOpenApi, protect } from "../shell/protect.ts";
import { portalCookies, themeRoute, visitHook } from "../shell/request-visit.ts";
import type { Sessions } from "../shell/sessions.ts";
import {
  type ConsoleDeps,
  hiddenWithoutToken,
  operatorApi,
  operatorIn,
  operatorPages,
  operatorSessions,
  signInPages,
} from "./access.ts";
import { accountPages } from "./account-pages.ts";
import { eventPages } from "./event-pages.ts";
import { logPages } from "./log-pages.ts";
import { commandForms, commandRoutes } from "./operator-commands.ts";
import { overviewPage } from "./overview-page.ts";
import { peoplePage } from "./people-page.ts";
import { projectionPages } from "./projection-pages.ts";
import { providerPage } from "./provider-page.ts";
import { sealsPage } from "./seals-page.ts";
import { withdrawalsPage } from "./withdrawals-page.ts";

const PREFIX = "/admin";
/** A page of hits that takes longer ends where it has come to. */
const CLICK_SEARCH_MS = 2_000;
const LONGEST_BODY = 4096;

/** `site`: serves the base host only. */
export async function consoleRoutes(
  site: Api,
  portal: PortalDeps & Watched & { sessions: Sessions },
  assets: Assets,
): Promise<void> {
  const { findClicks, matchingClicks } = portal.logReader;
  const deps: ConsoleDeps = {
    ...portal,
    findClicks,
    matchingClicks,
    searchMs: CLICK_SEARCH_MS,
    operators: operatorSessions(portal),
  };
  hideFromOpenApi(site);
  await protect(site, deps);
  const cookies = portalCookies(deps.baseUrl);
  visitHook(site, {
    home: PREFIX,
    signedIn: (sent) => operatorIn(deps, { token: sent[cookies.operator], person: sent[cookies.session] }),
    assets,
    cookies,
  });
  errorPages(site);
  await site.register(
    async (app: Api) => {
      hiddenWithoutToken(app, deps);
      app.setNotFoundHandler(() => {
        throw new Refused("not_found");
      });
      themeRoute(app);
      signInPages(app, deps);
      await app.register(async (pages: Api) => {
        operatorPages(pages);
        overviewPage(pages, deps);
        accountPages(pages, deps);
        peoplePage(pages, deps);
        logPages(pages, deps);
        eventPages(pages, deps);
        withdrawalsPage(pages, deps);
        sealsPage(pages, deps);
        projectionPages(pages, deps);
        providerPage(pages, deps);
        commandForms(pages, deps);
      });
      await app.register(async (api: Api) => jsonRoutes(api, deps), { prefix: "/api" });
    },
    { prefix: PREFIX },
  );
}

function jsonRoutes(api: Api, deps: ConsoleDeps): void {
  operatorApi(api, deps);
  const parse = api.getDefaultJsonParser("error", "error");
  api.addContentTypeParser("application/json", { parseAs: "string", bodyLimit: LONGEST_BODY }, parse);
  const all: Record<string, Question<ConsoleDeps, z.ZodObject, object>> = questions as never;
  for (const [name, { args, answer }] of Object.entries(all)) {
    const schema = name.includes(":") ? { params: args } : { querystring: args };
    api.get(`/${name}`, { schema }, async ({ query, params }) =>
      answer(deps, { ...(query as object), ...(params as object) }),
    );
  }
  commandRoutes(api, deps);
}
