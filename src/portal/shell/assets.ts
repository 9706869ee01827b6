// Styles and scripts of the portal: our own files and uPlot's, under one address that changes when any of them does.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import { RouteNotFound } from "../../api/errors.ts";
import type { Api } from "../../api/fastify.ts";

const OWN = fileURLToPath(new URL("assets", import.meta.url));
const UPLOT = dirname(createRequire(import.meta.url).resolve("uplot/dist/uPlot.min.css"));
const FROM_UPLOT = ["uPlot.esm.js", "uPlot.min.css"];
const YEAR_SECONDS = 31_536_000;

/** `url("portal.css")`: where a page finds it; scripts import each other by their bare file names beside it. */
export type Assets = { url: (file: string) => string };

/** The portal's pages are under `prefix`; files are read once, at start. */
export async function assetRoutes(app: Api, prefix: string): Promise<Assets> {
  const folders = new Map<string, string>();
  for (const file of readdirSync(OWN)) folders.set(file, OWN);
  for (const file of FROM_UPLOT) folders.set(file, UPLOT);
  const version = versionOf(folders);
  await app.register(fastifyStatic, { root: [OWN, UPLOT], serve: false });
  app.get("/assets/:version/:file", async (request, reply) => {
    const asked = request.params as { version: string; file: string };
    const folder = folders.get(asked.file);
    if (!folder) throw new RouteNotFound();
    // A page of another version of the program may ask this one: it gets the file, but must not keep it.
    const caching =
      asked.version === version
        ? { maxAge: YEAR_SECONDS * 1000, immutable: true }
        : { maxAge: 0, immutable: false };
    return reply.sendFile(asked.file, folder, caching);
  });
  return {
    url(file) {
      if (!folders.has(file)) throw new RangeError(`${file} is not an asset`);
      return `${prefix}/assets/${version}/${file}`;
    },
  };
}

function versionOf(folders: ReadonlyMap<string, string>): string {
  const hash = createHash("sha256");
  for (const [file, folder] of [...folders].sort())
    hash.update(file).update(readFileSync(join(folder, file)));
  return hash.digest("base64url").slice(0, 12);
}
