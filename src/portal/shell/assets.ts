// Serves the portal's styles and scripts and uPlot's, under a path with a hash of their contents so that browsers can
// cache them.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { Api } from "../../api/fastify.ts";
import { Refused } from "../../runtime/refused.ts";

const OWN = fileURLToPath(new URL("assets", import.meta.url));
const UPLOT = dirname(createRequire(import.meta.url).resolve("uplot/dist/uPlot.min.css"));
const FROM_UPLOT = ["uPlot.esm.js", "uPlot.min.css"];
const YEAR_SECONDS = 31_536_000;

/** `url("portal.css")`: the file's URL path. Scripts import each other by relative path. */
export type Assets = {
  url: (file: string) => string;
  version: string;
  /** By file name. */
  folders: ReadonlyMap<string, string>;
};

/** `prefix`: path of the portal. Files are hashed once, at start. */
export function portalAssets(prefix: string): Assets {
  const folders = new Map<string, string>();
  for (const file of readdirSync(OWN)) folders.set(file, OWN);
  for (const file of FROM_UPLOT) folders.set(file, UPLOT);
  const version = versionOf(folders);
  const url = (file: string) => {
    if (!folders.has(file)) throw new RangeError(`${file} is not an asset`);
    return `${prefix}/assets/${version}/${file}`;
  };
  return { url, version, folders };
}

/** `app`: below the prefix. */
export async function assetRoutes(app: Api, { folders, version }: Assets): Promise<void> {
  await app.register(fastifyStatic, { root: [OWN, UPLOT], serve: false });
  app.get("/assets/:version/:file", async (request, reply) => {
    const params = request.params as { version: string; file: string };
    const folder = folders.get(params.file);
    if (!folder) throw new Refused("not_found");
    // During an upgrade, a page of another version may request this file: it must not cache it under its own hash.
    const caching =
      params.version === version
        ? { maxAge: YEAR_SECONDS * 1000, immutable: true }
        : { maxAge: 0, immutable: false };
    return reply.sendFile(params.file, folder, caching);
  });
}

function versionOf(folders: ReadonlyMap<string, string>): string {
  const hash = createHash("sha256");
  for (const [file, folder] of [...folders].sort())
    hash.update(file).update(readFileSync(join(folder, file)));
  return hash.digest("base64url").slice(0, 12);
}
