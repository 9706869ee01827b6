// GET /portal/links/<host>/<slug>/explain: everything the log says of an own link, and what proves it.
import type { Api } from "../../api/fastify.ts";
import { explainLink } from "../../queries/audit/explain-link.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { explanation } from "./explanation-view.ts";
import { LinkParams } from "./link-pages.ts";
import { linkPath, shortName } from "./link-view.ts";

export function explainPage(app: Api, deps: PortalDeps): void {
  const one = { preHandler: requireSession, schema: { params: LinkParams } };
  app.get("/links/:host/:slug/explain", one, async (request, reply) => {
    const { params } = request;
    const found = await explainLink(deps, params, { owner: signedIn(request).accountId });
    return sendPage(reply, {
      title: `${found.link} explained`,
      nav: "Links",
      styles: ["charts.css"],
      body: html`<div class="page-head"><div><p class="small"><a href="${linkPath(params)}">Back to the link</a></p>
<h1 class="break">${found.short_url === null ? found.link : shortName({ shortUrl: found.short_url })}, explained</h1><p class="muted">Who made it, what was changed and by whom, its hits, and what proves that.</p></div></div>
${explanation(found)}`,
    });
  });
}
