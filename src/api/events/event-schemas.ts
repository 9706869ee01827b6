// Schemas of the event feed for the OpenAPI document: one for each type of the catalogue, and its envelopes.
import { z } from "zod";
import { catalogue, EVENT_TYPES, type EventType, publishedSchema } from "../../events/catalogue.ts";
import { CLOUD_EVENT_PREFIX, dataSchemaName, UNREADABLE_TYPE } from "../../queries/feed/feed-event.ts";
import { time } from "../schemas.ts";

export const PositionSchema = z
  .string()
  .meta({ description: "Opaque; sorts as text", examples: ["00000000000000004711"] });
const ACTORS = ["key", "person", "system", "operator"] as const;
export const ActorSchema = z
  .object({
    type: z.enum(ACTORS),
    id: z.string().optional().meta({ description: "Of an operator: the person, if any" }),
  })
  .meta({
    id: "Actor",
    description: "Who did it: an API key, a person in the portal, the service, or its operator",
  });

function eventSchema(type: EventType) {
  const { version, summary } = catalogue[type];
  return z
    .object({
      id: z.uuid(),
      type: z.literal(type),
      version: z.literal(version).meta({ description: "Of the data's schema" }),
      subject: z
        .string()
        .meta({ description: "What it happened to", examples: ["link/lnk.example/k7m2pqx"] }),
      at: time.meta({ description: "When it happened" }),
      recorded_at: time.meta({ description: "When it was recorded" }),
      position: PositionSchema,
      actor: ActorSchema,
      correlation_id: z.string().meta({ description: "The id of the request that caused it" }),
      causation_id: z.string(),
      data: publishedSchema(type).meta({ id: dataSchemaName(type) }),
    })
    .meta({ id: `${type}Event`, description: summary });
}

const unreadable = z
  .object({
    id: z.string(),
    type: z.literal(UNREADABLE_TYPE),
    stored_type: z.string().meta({ description: "As far as it can be told; may be empty" }),
    version: z.int(),
    subject: z.string(),
    at: time,
    recorded_at: time,
    position: PositionSchema,
    actor: ActorSchema,
    correlation_id: z.string(),
    causation_id: z.string(),
    error: z.string(),
  })
  .meta({
    id: "UnreadableEvent",
    description: "An event of the account that can't be read, or one that may be the account's",
  });

const event = z.discriminatedUnion("type", [unreadable, ...EVENT_TYPES.map(eventSchema)]).meta({
  id: "Event",
  discriminator: {
    propertyName: "type",
    mapping: Object.fromEntries(
      [...EVENT_TYPES, UNREADABLE_TYPE].map((type) => [type, `#/components/schemas/${type}Event`]),
    ),
  },
});

export const EventPageSchema = z
  .object({
    events: z.array(event),
    next: PositionSchema.meta({
      description: "`after` of the next page; moves on when the page is empty, too",
    }),
    more: z.boolean().meta({
      description:
        "Whether there may be more already: `events` may be empty all the same. False: poll again later",
    }),
  })
  .meta({ id: "EventPage" });

export const CloudEventSchema = z
  .object({
    specversion: z.literal("1.0"),
    id: z.uuid(),
    source: z.url(),
    type: z.string().meta({ examples: EVENT_TYPES.map((type) => `${CLOUD_EVENT_PREFIX}${type}`) }),
    subject: z.string(),
    time,
    datacontenttype: z.literal("application/json"),
    dataschema: z.url().optional().meta({ description: "The schema of `data`" }),
    sequence: PositionSchema,
    correlationid: z.string(),
    causationid: z.string(),
    schemaversion: z.int(),
    recordedat: time,
    actortype: z.enum(ACTORS),
    actorid: z.string().optional(),
    data: z.record(z.string(), z.unknown()).nullable(),
    error: z.string().optional().meta({ description: "Of an event that can't be read; `data` is null then" }),
  })
  .meta({ id: "CloudEvent", description: "CloudEvents 1.0" });
