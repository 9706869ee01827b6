// GET /api/v1/webhooks/{webhook_id}/deliveries/stream: what a webhook is sent, signed as it is, for a receiver on a machine
// that can't be reached. `linkledger webhook listen` forwards it.
import { z } from "zod";
import { Refused } from "../../commands/refusals.ts";
import { keysInUse } from "../../commands/webhooks/webhook-key.ts";
import { readableEvent } from "../../events/read-event.ts";
import { selectionOf, WEBHOOK_EVENTS, type WebhookEventName } from "../../events/webhook-selection.ts";
import { refuseForeignPosition } from "../../queries/cursor.ts";
import type { FeedBatch } from "../../queries/log-reader/log-reader.ts";
import { entitledWebhook } from "../../queries/webhooks.ts";
import type { RecordedEvent } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { deliveryHeaders } from "../../webhooks/delivery/sign.ts";
import {
  DELIVERED_TYPES,
  deliveryMaker,
  noneOfUnreadable,
  selects,
} from "../../webhooks/routing/deliveries-of.ts";
import type { Api } from "../fastify.ts";
import { apiErrors } from "../schemas.ts";
import { type EventsDeps, listOf, Position, sendStream } from "./send-stream.ts";
import type { LiveStreams } from "./streams.ts";

export type DeliveriesDeps = EventsDeps & {
  eventStore: Parameters<typeof deliveryMaker>[0]["eventStore"];
  readStore: ReadStore;
  secrets: Secrets;
  baseUrl: string;
};

const DESCRIPTION = `Server-sent events: \`data\` is \`{ "id", "event", "headers", "body" }\`, as the webhook's URL is sent it, but
for the header \`X-API-Key\`, signed as it is sent to you: \`webhook-timestamp\` is that moment, also of what was before, whose own
time is \`timestamp\` in \`body\`; \`id\` is a position, which a client sends back as \`Last-Event-ID\` when it reconnects. Without
one it begins now. A paused webhook is told here, too, and what is told here is sent to its URL all the same. Developer tier;
for a key of the account, or of a member who may change webhooks.`;

export function deliveriesRoute(app: Api, deps: DeliveriesDeps, streams: LiveStreams): void {
  const schema = {
    operationId: "followDeliveries",
    summary: "Follow the deliveries of a webhook",
    description: DESCRIPTION,
    tags: ["Events"],
    params: z.object({
      webhook_id: z
        .string()
        .max(100)
        .meta({ examples: ["0195b7e0-3c5d-7a10-8b11-3c5d7e9f1a2b"] }),
    }),
    querystring: z.object({
      after: Position.optional().meta({ description: "Only what is behind it" }),
      events: listOf(WEBHOOK_EVENTS, "must be events of webhooks, with commas").meta({
        description: "Only these of those that the webhook is told of, with commas; all when absent",
      }),
    }),
    headers: z.object({ "last-event-id": Position.optional() }),
    response: {
      200: { description: "A stream", content: { "text/event-stream": { schema: z.string() } } },
      ...apiErrors(400, 401, 402, 404),
    },
  };
  app.get("/api/v1/webhooks/:webhook_id/deliveries/stream", { schema }, async (request, reply) => {
    const { accountId } = request.caller;
    const { webhook_id: webhookId } = request.params;
    await entitledWebhook(deps, webhookId, accountId);
    const after = request.headers["last-event-id"] ?? request.query.after;
    if (after !== undefined) await refuseForeignPosition(deps, after);
    const from = after ?? (await deps.eventStore.head());
    const deliveriesOf = signedDeliveries(deps, webhookId, accountId, request.query.events);
    const follow = async function* (signal: AbortSignal) {
      const all = deps.logReader.followAccount(accountId, from, DELIVERED_TYPES, "recorded", signal);
      for await (const batch of all) yield await deliveriesOf(batch);
    };
    // What is signed as the webhook's own is for those alone who look after it.
    await sendStream(deps, streams, request, reply, from, follow, "manage");
    return reply;
  });
}

/** `wanted`: events; none are all. By the webhook's settings and keys as they are at each batch. */
function signedDeliveries(
  deps: DeliveriesDeps,
  webhookId: string,
  accountId: string,
  wanted: readonly WebhookEventName[],
) {
  const make = deliveryMaker(deps);
  return async ({ events, position }: FeedBatch): Promise<FeedBatch> => {
    if (events.length === 0) return { events, position };
    const selection = { webhookId, ...selectionOf(await entitledWebhook(deps, webhookId, accountId)) };
    const secrets = await keysInUse(deps.secrets, webhookId, deps.clock());
    if (!secrets) throw new Refused("webhook_key_missing");
    const signed: FeedBatch["events"] = [];
    for (const recorded of events) {
      const event = readableEvent(JSON.parse(recorded.json) as RecordedEvent);
      if (!event || !selects(selection, event)) continue;
      const deliveries = await make(event, [selection]).catch(noneOfUnreadable);
      for (const { eventId: id, event: name, body } of deliveries) {
        if (wanted.length > 0 && !wanted.some((event) => event === name)) continue;
        const headers = deliveryHeaders(secrets, { id, event: name, body }, deps.clock().getTime());
        signed.push({
          position: recorded.position,
          json: JSON.stringify({ id, event: name, headers, body }),
        });
      }
    }
    return { events: signed, position };
  };
}
