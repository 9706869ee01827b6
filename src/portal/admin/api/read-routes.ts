// GET /admin/api/...: what the console's pages show, as JSON.
import type { Api } from "../../../api/fastify.ts";
import { namedLink } from "../../../commands/links/change-link.ts";
import { explainedEvent, logPage, streamPage } from "../../../queries/audit/audited-event.ts";
import { explainLink } from "../../../queries/audit/explain-link.ts";
import { findEvents } from "../../../queries/audit/find-events.ts";
import { listSeals } from "../../../queries/audit/list-seals.ts";
import { listClickHours, listStreams } from "../../../queries/audit/list-streams.ts";
import { consoleRows } from "../../../queries/audit/projection-rows.ts";
import {
  ClicksQuestion,
  EventQuestion,
  EventsQuestion,
  ExplainQuestion,
  LogQuestion,
  SealsQuestion,
  StateQuestion,
  StreamQuestion,
  StreamsQuestion,
} from "../../../queries/audit/questions.ts";
import { searchClicks } from "../../../queries/audit/search-clicks.ts";
import { streamState } from "../../../queries/audit/stream-state.ts";
import { withAccount } from "../accounts/account-acts.ts";
import { CLICK_SEARCH, type ConsoleDeps } from "../guard.ts";
import type { LiveRates } from "../live-rates.ts";

export function readRoutes(app: Api, deps: ConsoleDeps & { rates: LiveRates }): void {
  const { verifications, logReader } = deps;

  app.get("/streams", { schema: { querystring: StreamsQuestion } }, async ({ query }) =>
    query.category === "clicks"
      ? listClickHours(deps, query)
      : listStreams(deps, await withAccount(deps, query), query),
  );

  app.get("/stream", { schema: { querystring: StreamQuestion } }, async ({ query }) => ({
    stream: query.name,
    ...(await streamPage(deps, query.name, query)),
  }));

  app.get("/event", { schema: { querystring: EventQuestion } }, ({ query }) =>
    explainedEvent(deps, query.stream, query.revision),
  );

  app.get("/state", { schema: { querystring: StateQuestion } }, ({ query }) =>
    streamState(deps, query.stream, query),
  );

  app.get("/events", { schema: { querystring: EventsQuestion } }, async ({ query }) => {
    const { correlation_id: correlationId, up_to: upTo, ...rest } = await withAccount(deps, query);
    return findEvents(deps, { ...rest, correlationId, upTo }, query);
  });

  app.get("/log", { schema: { querystring: LogQuestion } }, ({ query }) => logPage(deps, query));

  app.get("/clicks", { schema: { querystring: ClicksQuestion } }, async ({ query }) =>
    searchClicks({ ...deps, findClicks: logReader.findClicks }, await withAccount(deps, query), CLICK_SEARCH),
  );

  app.get("/explain", { schema: { querystring: ExplainQuestion.required() } }, ({ query }) =>
    explainLink(deps, namedLink(query.link, deps.baseHost)),
  );

  app.get("/seals", { schema: { querystring: SealsQuestion } }, ({ query }) => listSeals(deps, query));

  app.get("/verification", async () => ({ verification: (await verifications.read()) ?? null }));

  app.get("/projections", async () => {
    const { projections, ...rest } = await consoleRows(deps);
    const rates = await deps.rates();
    return {
      ...rest,
      projections: projections.map((row) => ({ ...row, events_per_second: rates.get(row.name) ?? null })),
    };
  });
}
