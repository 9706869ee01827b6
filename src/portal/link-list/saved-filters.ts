// Filters of the list of links that the account keeps under names: above the list, and on the dashboard.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import {
  FILTER_NAME_LENGTH,
  forgetFilter,
  keepFilter,
  queryOfFilter,
} from "../../commands/links/saved-filters.ts";
import type { SavedFilter } from "../../events/accounts/account-events.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { field } from "../shell/controls.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { card, choices, postButton } from "../shell/layout.ts";
import { filtersIn, LINKS_PATH, ListQuery, listPath } from "./links-filters.ts";

const PATH = `${LINKS_PATH}/filters`;
const NameForm = z.object({ name: z.string().max(4 * FILTER_NAME_LENGTH) });

/** `again`: shows the list with what was refused. */
export function savedFilterForms(
  app: Api,
  deps: PortalDeps,
  again: (
    reply: FastifyReply,
    query: ListQuery,
    refused: { message: string; status: number },
  ) => Promise<FastifyReply>,
): void {
  const path = (request: { query: unknown }) => listPath(ListQuery.parse(request.query));
  formRoute(app, deps, "/links/filters", {
    schema: { querystring: ListQuery, body: NameForm },
    async run({ session: { accountId }, context, query, body }) {
      const filters = filtersIn(query);
      const { position, name } = await keepFilter(deps.links, context, accountId, { ...filters, ...body });
      return { position, notice: `The filter ${name} is saved.` };
    },
    again: (reply, refused) => again(reply, ListQuery.parse(reply.request.query), refused),
    path,
  });

  formRoute(app, deps, "/links/filters/remove", {
    schema: { querystring: ListQuery, body: NameForm },
    async run({ session: { accountId }, context, body: { name } }) {
      const { position } = await forgetFilter(deps.links, context, accountId, name);
      return { position, notice: `The filter ${name} is removed.` };
    },
    again: "back",
    path,
  });
}

type SavedFilters = ReadonlyMap<string, SavedFilter>;

/** Links to what they show; nothing where there are none. `current`: the address of what is shown. */
function filterLinks(saved: SavedFilters, current?: string): Html | false {
  const links = Array.from(saved, ([name, filter]) => {
    const path = listPath(queryOfFilter(filter));
    return [name, path, path === current] as const;
  });
  return saved.size > 0 && choices("Saved filters", links);
}

/** For the dashboard. */
export function savedFiltersCard(saved: SavedFilters): Html | false {
  const links = filterLinks(saved);
  return links && card("Saved filters", links);
}

/** Above the list: those that there are, and what keeps or removes the one that is shown. */
export function savedFilters(query: ListQuery, saved: SavedFilters): Html | false {
  const filters = filtersIn(query);
  const current = listPath(filters);
  const kept = [...saved].find(([, filter]) => listPath(queryOfFilter(filter)) === current);
  const isFiltered = Object.keys(filters).length > 0;
  if (saved.size === 0 && !isFiltered) return false;
  const save = html`<details class="menu"><summary class="button button-small">Save this filter</summary><form class="menu-box" method="post" action="${listPath(query, PATH)}">
${field({ id: "filter-name", label: "Name", name: "name", maxlength: FILTER_NAME_LENGTH, required: true })}
<div><button class="button button-primary button-small">Save</button></div></form></details>`;
  const remove =
    kept &&
    postButton(listPath(query, `${PATH}/remove`), "Remove filter", {
      fields: { name: kept[0] },
      kind: "small",
      label: `Remove the filter ${kept[0]}`,
    });
  return html`<div class="actions">${filterLinks(saved, current)}${isFiltered && (remove ?? save)}</div>`;
}
