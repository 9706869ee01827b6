// GET /admin/explain: everything about one link, whoever owns it.
import type { Api } from "../../../api/fastify.ts";
import { namedLink } from "../../../commands/links/change-link.ts";
import { explainLink, type LinkExplanation } from "../../../queries/audit/explain-link.ts";
import { ExplainQuestion } from "../../../queries/audit/questions.ts";
import { explanation } from "../../links/explanation-view.ts";
import { address } from "../../shell/address.ts";
import { field } from "../../shell/form.ts";
import { type Html, html } from "../../shell/html.ts";
import { icon } from "../../shell/icons.ts";
import { sendPage } from "../../shell/page.ts";
import type { ConsoleDeps } from "../guard.ts";
import { CONSOLE_STYLES, eventPath } from "../view.ts";

export function explainPage(app: Api, deps: ConsoleDeps): void {
  app.get("/explain", { schema: { querystring: ExplainQuestion } }, async ({ query }, reply) => {
    const { link } = query;
    const found = link === undefined ? undefined : await explainLink(deps, namedLink(link, deps.baseHost));
    return sendPage(reply, {
      title: found ? `${found.link} explained` : "Explain a link",
      nav: "Explain a link",
      styles: CONSOLE_STYLES,
      body: html`<div class="page-head"><div><h1 class="break">${found ? html`${found.link}, explained` : "Explain a link"}</h1>
<p class="muted">Who made it, what was changed and by whom, its hits, and what proves that.</p></div></div>
<form method="get" action="/admin/explain" class="card console-filters" role="search">
${field({ label: "Link", name: "link", type: "search", value: link ?? "", placeholder: "slug, host/slug or short URL", autocomplete: "off" })}
<div class="actions"><button class="button button-primary">${icon("search")}Explain</button></div></form>
${found && explanation(found, { owner, event: eventPath, clicks: clicksPath })}`,
    });
  });
}

function clicksPath(link: string): string {
  return address("/admin/clicks", { link });
}

function owner({ owner: { account_id, email } }: LinkExplanation): Html {
  if (account_id === null) return html`unknown`;
  return html`<a class="break" href="${address("/admin/events", { account: account_id })}">${email ?? account_id}</a>`;
}
