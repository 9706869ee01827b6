// GET /api/v1/events and /cloudevents: the account's own events, as pages or as server-sent events, complete and in order.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import { requireDeveloper } from "../../commands/caller.ts";
import { EVENT_TYPES } from "../../events/catalogue.ts";
import { refuseForeignPosition } from "../../queries/cursor.ts";
import type { LogReader } from "../../queries/log-reader/log-reader.ts";
import { START } from "../../stores/event-store/port.ts";
import type { Api } from "../fastify.ts";
import { setPageLinks } from "../page-links.ts";
import { apiErrors } from "../schemas.ts";
import { type DeliveriesDeps, deliveriesRoute } from "./deliveries-route.ts";
import { CloudEventSchema, EventPageSchema } from "./event-schemas.ts";
import { type EventsDeps, listOf, Position, sendStream } from "./send-stream.ts";
import { type LiveStreams, liveStreams } from "./streams.ts";

const LIMIT = 1_000;
const Query = z.object({
  after: Position.optional().meta({
    description: "Only events behind this position: `next` of the page before; all when absent",
  }),
  types: listOf(EVENT_TYPES, "must be types of events that /openapi.json lists, with commas").meta({
    description: "Only events of these types, with commas; all when absent",
  }),
  limit: z.coerce.number().int().min(1).max(LIMIT).default(100).meta({ description: "Of a page" }),
});

const DESCRIPTION = `Everything that happened to the account, its keys, domains, webhooks and links, and every click:
each event once, in the order of the log. Developer tier.`;
const PAGES = `Give \`next\` of one page as \`after\` to get the next, or follow the \`Link\` header; it moves on when a page is
empty, too, as one request reads a bounded part of the log.`;
const STREAMS = `Server-sent events, as they happen: \`data\` is an event, \`id\` its position, which a client sends back as
\`Last-Event-ID\` when it reconnects. Every five seconds an \`alive\` event says how far the log was read.`;

/** The address, and the names of the operations that read pages and follow the stream, of each form of events. */
const FEEDS = {
  plain: { path: "/api/v1/events", list: "listEvents", follow: "followEvents", events: "events" },
  cloudevents: {
    path: "/api/v1/cloudevents",
    list: "listCloudEvents",
    follow: "followCloudEvents",
    events: "events as CloudEvents 1.0",
  },
} as const;

type PublicForm = keyof typeof FEEDS;

export function eventsRoute(app: Api, deps: DeliveriesDeps): void {
  const streams = liveStreams(app, deps);
  deps.onCallersChanged(streams.check);
  for (const form of ["plain", "cloudevents"] as const) {
    pagesRoute(app, deps, form);
    streamRoute(app, deps, form, streams);
  }
  deliveriesRoute(app, deps, streams);
}

function pagesRoute(app: Api, deps: EventsDeps, form: PublicForm): void {
  const { path, list, events } = FEEDS[form];
  const [type, page] =
    form === "plain"
      ? ["application/json", EventPageSchema]
      : ["application/cloudevents-batch+json", z.array(CloudEventSchema)];
  const schema = {
    operationId: list,
    summary: `Read the account's own ${events}`,
    description: `${DESCRIPTION}\n\n${PAGES}`,
    tags: ["Events"],
    querystring: Query,
    response: {
      200: { description: "A page", content: { [type]: { schema: page } } },
      ...apiErrors(400, 401, 402),
    },
  };
  app.get(path, { schema }, async (request, reply) => {
    requireDeveloper(request.caller.tier, "Event feeds");
    const { after, types, limit } = request.query;
    if (after !== undefined) await refuseForeignPosition(deps, after);
    const page = await deps.logReader.feed(request.caller.accountId, { after, types, limit }, form);
    setPageLinks(request, reply, "after", page.next);
    return sendJson(reply, type, form === "plain" ? pageOf(page) : `[${page.events.join(",")}]`);
  });
}

/** The events are JSON already. */
function pageOf({ events, next, more }: Awaited<ReturnType<LogReader["feed"]>>): string {
  return `{"events":[${events.join(",")}],"next":${JSON.stringify(next)},"more":${more}}`;
}

function sendJson(reply: FastifyReply, type: string, text: string): FastifyReply {
  return reply.type(`${type}; charset=utf-8`).send(text);
}

function streamRoute(app: Api, deps: EventsDeps, form: PublicForm, streams: LiveStreams): void {
  const { path, follow, events } = FEEDS[form];
  const schema = {
    operationId: follow,
    summary: `Follow the account's own ${events}`,
    description: `${DESCRIPTION}\n\n${STREAMS}`,
    tags: ["Events"],
    querystring: Query.omit({ limit: true }),
    headers: z.object({ "last-event-id": Position.optional() }),
    response: {
      200: { description: "A stream", content: { "text/event-stream": { schema: z.string() } } },
      ...apiErrors(400, 401, 402),
    },
  };
  app.get(`${path}/stream`, { schema }, async (request, reply) => {
    requireDeveloper(request.caller.tier, "Event feeds");
    const after = request.headers["last-event-id"] ?? request.query.after;
    if (after !== undefined) await refuseForeignPosition(deps, after);
    await sendStream(deps, streams, request, reply, after ?? START, (signal) =>
      deps.logReader.followAccount(request.caller.accountId, after, request.query.types, form, signal),
    );
    return reply;
  });
}
