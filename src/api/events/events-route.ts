// GET /api/v1/events: the account's own events, as pages or as server-sent events, complete and in order.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { hashKey } from "../../commands/account/keys.ts";
import { requireDeveloper } from "../../commands/caller.ts";
import { EVENT_TYPES } from "../../events/catalogue.ts";
import { hasDeveloperFeatures } from "../../events/vocabulary.ts";
import type { FeedForm } from "../../queries/feed/feed-event.ts";
import type { KeyCaller } from "../../queries/find-caller.ts";
import type { FeedBatch, LogReader } from "../../queries/log-reader/log-reader.ts";
import type { Logger } from "../../runtime/logging.ts";
import type { Counts } from "../../stores/counts/counts.ts";
import { refuseForeignPosition } from "../../stores/event-store/foreign-position.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { Api } from "../fastify.ts";
import { apiErrors } from "../schemas.ts";
import { CloudEventSchema, EventPageSchema } from "./event-schemas.ts";
import { type EventStream, type LiveStreams, liveStreams } from "./streams.ts";

export type EventsDeps = {
  eventStore: Pick<EventStore, "head">;
  logReader: Pick<LogReader, "feed" | "followAccount">;
  findCaller: (keyHash: string) => Promise<KeyCaller | undefined>;
  sleep: (ms: number) => Promise<void>;
  counts: Counts;
  clock: () => Date;
  log: Logger;
};

const LIMIT = 1_000;
/** Between two batches of a stream, so that many events cost few writes. */
const BETWEEN_BATCHES_MS = 100;
const EVENT_STREAM = "text/event-stream";
const CLOUD_EVENTS_BATCH = "application/cloudevents-batch+json";
const CLOUD_EVENTS = [CLOUD_EVENTS_BATCH, "application/cloudevents+json"];

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

export function eventsRoute(app: Api, deps: EventsDeps): void {
  const streams = liveStreams(app, deps);
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
    if (stream) {
      const { accountId } = request.caller;
      await send(deps, streams, request, reply, after ?? "", (signal) =>
        deps.logReader.followAccount(accountId, after, types, form, signal),
      );
      return reply;
    }
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

/** A page of our own JSON for any other header. `text/event-stream, application/cloudevents+json`: a stream of those. */
function acceptedForm(header: string | undefined): { stream: boolean; form: FeedForm } {
  const accepted = (header ?? "")
    .toLowerCase()
    .split(",")
    .map((range) => range.split(";").map((part) => part.trim()))
    .filter(([, ...parameters]) => !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)))
    .map(([type = ""]) => type);
  return {
    stream: accepted.includes(EVENT_STREAM),
    form: accepted.some((type) => CLOUD_EVENTS.includes(type)) ? "cloudevents" : "plain",
  };
}

/**
 * Sends until the client disconnects, the key is deactivated, the tier is lost, or too much of the log had to be read
 * for this connection: then the client reconnects, which counts as a request. `position`: where the client is.
 * @throws too_many_streams
 */
async function send(
  deps: EventsDeps,
  streams: LiveStreams,
  request: FastifyRequest,
  reply: FastifyReply,
  position: string,
  follow: (signal: AbortSignal) => AsyncGenerator<FeedBatch>,
): Promise<void> {
  let sent = position;
  // Carries the position, so that a reconnection after a quiet time has little to search.
  const heartbeat = (client: EventStream) =>
    client.offer({ event: "alive", id: sent, data: { position: sent } });
  const keepAlive = async (client: EventStream, stream: AbortController) => {
    const keyHash = hashKey(String(request.headers["x-api-key"]));
    // While a store is unavailable the key counts as valid.
    const caller = await deps.findCaller(keyHash).catch(() => request.caller);
    if (stream.signal.aborted) return;
    if (caller && hasDeveloperFeatures(caller.tier)) heartbeat(client);
    else stream.abort();
  };
  await streams.open(reply, request.caller.accountId, keepAlive, async (client, signal) => {
    for await (const batch of follow(signal)) {
      for (const event of batch.events) {
        await client.send({ event: "message", id: event.position, data: event.json });
        sent = event.position;
      }
      sent = batch.position;
      await deps.sleep(BETWEEN_BATCHES_MS);
    }
    // Reconnecting clients continue here, although no event of theirs may be at this position.
    heartbeat(client);
  });
}
