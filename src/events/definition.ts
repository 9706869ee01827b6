// The definition of an event type, and how data of earlier versions is upcast to the present one.
import { z } from "zod";
import type { WebhookEventName } from "./webhook-selection.ts";

/**
 * `schema`: of `version`. `upcast[n]`: turns JSON data of version n into that of n + 1, for every n below `version`;
 * pure, and never changes its argument.
 */
export type EventDefinition = {
  version: number;
  schema: z.ZodType;
  upcast?: { readonly [fromVersion: number]: (data: unknown) => unknown };
};

type Fields = Readonly<Record<string, z.ZodType>>;

/** A type of the catalogue, as the event feed, OpenAPI and docs/events.md describe it. */
export type CatalogueEntry<Shape extends Fields = Fields> = EventDefinition & {
  schema: z.ZodObject<Shape>;
  summary: string;
  internal: readonly string[];
} & Told;

/** `sentence`: what a link's history says behind who did it, where that needs no value. `webhook`: what webhooks that are told call it. */
type Told = { sentence?: string; webhook?: WebhookEventName };

/** `summary`: when it happens, in one sentence. `internal`: fields that never leave the service. `version`: by default 1. */
export function eventType<Shape extends Fields>(
  summary: string,
  shape: Shape,
  {
    internal = [],
    ...later
  }: { internal?: readonly (keyof Shape & string)[] } & Partial<Omit<EventDefinition, "schema">> & Told = {},
): CatalogueEntry<Shape> {
  return { version: 1, summary, schema: z.object(shape), internal, ...later };
}

/**
 * Upcasts data to `definition.version`, one version after the other.
 * @throws RangeError when the data is of a newer version, or an upcaster is missing
 */
export function upcast(definition: EventDefinition, data: unknown, writtenVersion: number): unknown {
  if (!(writtenVersion >= 1 && writtenVersion <= definition.version))
    throw new RangeError(`Version ${writtenVersion} is not one of 1..${definition.version}`);
  let current = data;
  for (let version = writtenVersion; version < definition.version; version++) {
    const step = definition.upcast?.[version];
    if (!step) throw new RangeError(`There is no upcaster from version ${version} to ${version + 1}`);
    current = step(current);
  }
  return current;
}
