// What the catalogue knows of an event type, and how data written by an older version becomes today's.
import type { z } from "zod";

/** Pure JSON to JSON, from the version it is filed under to the next; never changes its argument. */
export type Upcaster = (data: unknown) => unknown;

/** `schema` describes `version`; `upcast[n]` turns data of version n into n + 1 and is there for every n below. */
export type EventDefinition = {
  version: number;
  schema: z.ZodType;
  upcast?: { readonly [fromVersion: number]: Upcaster };
};

/**
 * Data of `definition.version`, whatever version it was written in.
 * @throws RangeError when it was written by a newer program, or a step between is missing
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
