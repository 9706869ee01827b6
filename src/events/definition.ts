// The definition of an event type, and how data of earlier versions is upcast to the present one.
import type { z } from "zod";

/** Turns JSON data of one version into the next one; pure, and never changes its argument. */
export type Upcaster = (data: unknown) => unknown;

/** `schema`: of `version`. `upcast[n]`: from version n to n + 1, for every n below `version`. */
export type EventDefinition = {
  version: number;
  schema: z.ZodType;
  upcast?: { readonly [fromVersion: number]: Upcaster };
};

/** A type of the catalogue, as the event feed, OpenAPI and docs/events.md describe it. */
export type CatalogueEntry = EventDefinition & {
  schema: z.ZodObject;
  /** When the event happens, in one sentence. */
  summary: string;
  /** Fields of `schema` that never leave the service (published-data.ts). */
  internal?: readonly string[];
};

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
