// How a projection's checkpoint is called, for the runner that writes it and the queries that wait for it.
import type { Projection } from "./projection.ts";

/** Each version starts from zero on its own. */
export function checkpointName({ name, version }: Pick<Projection, "name" | "version">): string {
  return `${name}:${version}`;
}
