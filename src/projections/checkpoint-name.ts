// How a projection's checkpoint is called, for the runner that writes it and the queries that wait for it.
import type { Projection } from "./projection.ts";

/** Each version starts from zero on its own, and so does each build of it. */
export function checkpointName({
  name,
  version,
  build = 0,
}: Pick<Projection, "name" | "version" | "build">): string {
  return build === 0 ? `${name}:${version}` : `${name}:${version}#${build}`;
}
