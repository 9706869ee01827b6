// Schemas of the bodies of deliveries, by event: what the sender builds, and the OpenAPI document lists (interface, part 6).
import { z } from "zod";
import { LINK_CLICKED, WEBHOOK_EVENTS, type WebhookEventName } from "../../events/webhook-selection.ts";
import { LinkDetailsObject } from "../../queries/links/link-object.ts";

const timestamp = z.string().meta({ format: "date-time", examples: ["2026-03-01T10:14:59.870Z"] });
const recognised = z.string().meta({ description: "`unknown` where it was not recognised" });

const ClickDelivery = z
  .object({
    event: z.literal(LINK_CLICKED),
    timestamp: timestamp.meta({ description: "The moment of the click" }),
    data: z.object({
      link_id: z.string().meta({ description: "The slug, which several of your domains may have" }),
      short_url: z.string(),
      long_url: z.string(),
      click_data: z.object({
        ip: z.string().meta({ description: "Anonymised: IPv4 /24, IPv6 /48; empty where it is not known" }),
        user_agent: z.string().meta({ description: "Empty where none was sent" }),
        referer: z.string().meta({ description: "Without a query; empty where none was sent" }),
        country: recognised,
        city: recognised,
        device_type: recognised,
        browser: recognised,
        os: recognised,
      }),
    }),
  })
  .meta({ id: "LinkClickedDelivery" });

export type ClickDelivery = z.infer<typeof ClickDelivery>;

const change = z.object({ from: z.unknown(), to: z.unknown() });
const LifeData = LinkDetailsObject.extend({
  link_id: z.string().meta({ description: "The slug" }),
  changes: z.record(z.string(), change).optional().meta({
    description:
      "Only in `link.updated`: what is new, by the names of the link's members; null for an absent one",
  }),
}).describe("The link as it was after the event");

function deliverySchema(name: WebhookEventName) {
  if (name === LINK_CLICKED) return ClickDelivery;
  const words = name.split(/[._]/).map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`);
  return z
    .object({ event: z.literal(name), timestamp, data: LifeData })
    .meta({ id: `${words.join("")}Delivery` });
}

export const DELIVERY_SCHEMAS = WEBHOOK_EVENTS.map((name) => ({ name, schema: deliverySchema(name) }));
