// What of an event's data leaves the service, in the event feed: all fields but those that its definition calls internal.
import { z } from "zod";
import { catalogue, type EventType, type LinkledgerEvent } from "./catalogue.ts";
import type { CatalogueEntry } from "./definition.ts";
import { operatorEvents } from "./operator-events.ts";
import { sealEvents } from "./seal-events.ts";

/** Those of accounts: a seal is over events of all, and what the operator does belongs to nobody. */
export const EVENT_TYPES = (Object.keys(catalogue) as EventType[]).filter(
  (type) => !(type in sealEvents || type in operatorEvents),
);

/** The schema of `publishedData` for events of the type. */
export function publishedSchema(type: EventType): z.ZodObject {
  return z.object(published(type, catalogue[type].schema.shape as Record<string, z.ZodType>));
}

export function publishedData({ type, data }: LinkledgerEvent): Record<string, unknown> {
  return published(type, data as Record<string, unknown>);
}

function published<T>(type: EventType, fields: Readonly<Record<string, T>>): Record<string, T> {
  const { internal = [] }: CatalogueEntry = catalogue[type];
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !internal.includes(name)));
}
