// GET .../clicks.csv and .../clicks.ndjson: all clicks of a link.
import type { Api } from "../../api/fastify.ts";
import { CONTENT_TYPES, sendExport } from "../../api/limits/exports.ts";
import type { OpenStreams } from "../../api/limits/open-streams.ts";
import { requireDeveloper } from "../../commands/caller.ts";
import { CLICK_KINDS } from "../../events/vocabulary.ts";
import { UTC } from "../../queries/analytics/time-zone.ts";
import { ownLinkAt } from "../../queries/links/find-link.ts";
import { CLICK_FORMATS } from "../../queries/log-reader/log-reader.ts";
import { LinkParams } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { countRead } from "../shell/change-limit.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";

export function clickExportRoutes(app: Api, deps: PortalDeps & { exports: OpenStreams }): void {
  for (const format of CLICK_FORMATS)
    app.get(
      `/links/:host/:slug/clicks.${format}`,
      // A HEAD would read the whole export for nobody.
      { preHandler: requireSession, schema: { params: LinkParams }, exposeHeadRoute: false },
      async (request, reply) => {
        const { accountId, tier } = signedIn(request);
        const { host, slug } = request.params;
        const link = await ownLinkAt(deps, accountId, { host, slug });
        requireDeveloper(tier, "Exports");
        await countRead(deps, { accountId, tier });
        const file = { type: CONTENT_TYPES[format], name: `clicks-${link.slug}.${format}` };
        const ofLink = { accountId, filters: { link: [link._id] }, kinds: CLICK_KINDS, zone: UTC.name };
        // Opened in a spreadsheet, mostly.
        const form = { format: format === "csv" ? "spreadsheet" : format, columns: "of link" } as const;
        return sendExport(reply, deps.exports, accountId, file, (signal) =>
          deps.logReader.clickFile({ ...ofLink, from: undefined, to: undefined }, form, signal),
        );
      },
    );
}
