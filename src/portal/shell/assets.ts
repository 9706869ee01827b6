// Serves the portal's styles and scripts, under a path with a hash of their contents so that browsers can cache them.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { Api } from "../../api/fastify.ts";
import { Refused } from "../../commands/refusals.ts";

const OWN = fileURLToPath(new URL("assets", import.meta.url));
/** Of packages, by the names under which our scripts import them; beside its entry, as its `exports` don't name it. */
const OF_PACKAGES: ReadonlyMap<string, string> = new Map([
  [
    "webauthn.js",
    fileURLToPath(new URL("../dist/bundle/index.umd.min.js", import.meta.resolve("@simplewebauthn/browser"))),
  ],
]);
const YEAR_SECONDS = 31_536_000;

/** `url("portal.css")`: the file's URL path. Scripts import each other by relative path. */
export type Assets = { url: (file: string) => string; version: string; files: ReadonlySet<string> };

/** `prefix`: path of the portal. Files are hashed once, at start. */
export function portalAssets(prefix: string): Assets {
  const files = new Set([...readdirSync(OWN), ...OF_PACKAGES.keys()].sort());
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(readFileSync(pathOf(file)));
  const version = hash.digest("base64url").slice(0, 12);
  const url = (file: string) => {
    if (!files.has(file)) throw new RangeError(`${file} is not an asset`);
    return `${prefix}/assets/${version}/${file}`;
  };
  return { url, version, files };
}

function pathOf(file: string): string {
  return OF_PACKAGES.get(file) ?? join(OWN, file);
}

/** `app`: below the prefix. */
export async function assetRoutes(app: Api, { files, version }: Assets): Promise<void> {
  await app.register(fastifyStatic, { root: OWN, serve: false });
  app.get("/assets/:version/:file", async (request, reply) => {
    const params = request.params as { version: string; file: string };
    if (!files.has(params.file)) throw new Refused("not_found");
    // During an upgrade, a page of another version may request this file: it must not cache it under its own hash.
    const immutable = params.version === version;
    const path = pathOf(params.file);
    return reply.sendFile(basename(path), dirname(path), {
      maxAge: immutable ? YEAR_SECONDS * 1000 : 0,
      immutable,
    });
  });
}
