// GET /api/v1/events: the account's own events, as pages or as server-sent events, complete and in order.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { requireDeveloper } from "../../commands/caller.ts";
import { refuseForeignPosition } from "../../event-store/foreign-position.ts";
import { EVENT_TYPES } from "../../events/published-data.ts";
import { apiErrors } from "../api-errors.ts";
import type { Api } from "../fastify.ts";
import { liveStreams } from "../streaming/live-streams.ts";
import { acceptedForm, CLOUD_EVENTS_BATCH, EVENT_STREAM } from "./accept.ts";
import { CloudEventSchema, EventPageSchema } from "./event-schemas.ts";
import { type EventStreamDeps, sendEventStream } from "./send-event-stream.ts";

const LIMIT = 1_000;

const Position = z.string().regex(/^[\w:.-]{1,100}$/, "must be a position, as an earlier answer gave it");
const Query = z.object({
  after: Position.optional().meta({
    description: "Only events behind this position: `next` of the page before; all when absent",
  }),
  types: z
    .string()
    .transform((text) => text.split(",").filter((type) => type !== ""))
    .pipe(z.array(z.enum(EVENT_TYPES, "must be types of events that /openapi.json lists, with commas")))
    .default([])
    .meta({ description: "Only events of these types, with commas; all when absent" }),
  limit: z.coerce.number().int().min(1).max(LIMIT).default(100).meta({ description: "Of a page" }),
});

const DESCRIPTION = `Everything that happened to the account, its keys, domains, webhooks and links, and every click:
each event once, in the order of the log. Developer tier.

Give \`next\` of one page as \`after\` to get the next; it moves on when a page is empty, too, as one request reads a
bounded part of the log.
With \`Accept: text/event-stream\` the events come as server-sent events, as they happen: \`id\` is the position, which a
client sends back as \`Last-Event-ID\` when it reconnects. With \`application/cloudevents-batch+json\` a page is a batch
of CloudEvents 1.0, and the next page is in the \`Link\` header; with
\`text/event-stream, application/cloudevents+json\` so is the data of server-sent events.`;

export function eventsRoute(app: Api, deps: EventStreamDeps): void {
  const tooMany = "Too many event streams are open: close one first, or try again later.";
  const streams = liveStreams(app, deps.log, tooMany);
  const schema = {
    operationId: "listEvents",
    summary: "Read the account's own events",
    description: DESCRIPTION,
    tags: ["Events"],
    querystring: Query,
    headers: z.object({ "last-event-id": Position.optional() }),
    response: {
      200: {
        description: "A page, or a stream",
        content: {
          "application/json": { schema: EventPageSchema },
          [CLOUD_EVENTS_BATCH]: { schema: z.array(CloudEventSchema) },
          [EVENT_STREAM]: { schema: z.string() },
        },
      },
      ...apiErrors(400, 401, 402),
    },
  };
  app.get("/api/v1/events", { schema }, async (request, reply) => {
    requireDeveloper(request.caller.tier, "Event feeds");
    const { stream, form } = acceptedForm(request.headers.accept);
    const { types, limit } = request.query;
    const after = (stream ? request.headers["last-event-id"] : undefined) ?? request.query.after;
    if (after !== undefined) await refuseForeignPosition(deps, after);
    if (stream) return await sendEventStream(deps, streams, request, reply, { after, types, form });
    const page = await deps.logReader.feed(request.caller.accountId, { after, types, limit }, form);
    reply.header("link", nextLink(request, page.next));
    const events = `[${page.events.join(",")}]`;
    if (form === "cloudevents") return sendJson(reply, CLOUD_EVENTS_BATCH, events);
    const [next, more] = [JSON.stringify(page.next), String(page.more)];
    return sendJson(reply, "application/json", `{"events":${events},"next":${next},"more":${more}}`);
  });
}

function sendJson(reply: FastifyReply, type: string, text: string): FastifyReply {
  return reply.type(`${type}; charset=utf-8`).send(text);
}

/** RFC 8288: this request with the next position. */
function nextLink({ url }: FastifyRequest, next: string): string {
  const { pathname, searchParams } = new URL(url, "http://any");
  searchParams.set("after", next);
  return `<${pathname}?${searchParams}>; rel="next"`;
}
