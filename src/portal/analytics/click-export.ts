// GET .../clicks.csv and .../clicks.ndjson: all clicks of a link, streamed.
import type { Api } from "../../api/fastify.ts";
import type { AccountStreams } from "../../api/streaming/account-streams.ts";
import { requireDeveloper } from "../../commands/caller.ts";
import { CLICK_FORMATS, type ClickFormat } from "../../log-reader/click-lines.ts";
import { linkHistory } from "../../queries/links/link-history.ts";
import { LinkParams } from "../links/link-pages.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { sendExport } from "./export-streams.ts";

const TYPES: Readonly<Record<ClickFormat, string>> = {
  csv: "text/csv; charset=utf-8; header=present",
  ndjson: "application/x-ndjson; charset=utf-8",
};

export function clickExportRoutes(app: Api, deps: PortalDeps & { exports: AccountStreams }): void {
  for (const format of CLICK_FORMATS)
    app.get(
      `/links/:host/:slug/clicks.${format}`,
      // A HEAD would read the whole export for nobody.
      { preHandler: requireSession, schema: { params: LinkParams }, exposeHeadRoute: false },
      async (request, reply) => {
        const { accountId, tier } = signedIn(request);
        const { host, slug } = request.params;
        const { link, position } = await linkHistory(deps, accountId, host, slug);
        requireDeveloper(tier, "Exports");
        const file = { type: TYPES[format], name: `clicks-${link.slug}.${format}` };
        return sendExport(reply, deps.exports, accountId, file, (signal) =>
          deps.logReader.exportClicks(link._id, position, format, signal),
        );
      },
    );
}
