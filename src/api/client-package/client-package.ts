// GET /sdk.tgz: the client for JavaScript and TypeScript, @linkledger/client, for `npm install` from one's own instance. It is
// made of files of the source tree and the OpenAPI document, without a compiler.
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { OpenApiDocument } from "../docs/operation-article.ts";
import type { Api } from "../fastify.ts";
import { apiTypes } from "./api-types.ts";
import { tarFile } from "./tar-file.ts";

const SDK = new URL("../../../sdk/", import.meta.url);
const LICENSE = new URL("../../../LICENSE", import.meta.url);
/** What the README says of an instance's address. */
const ANY_INSTANCE = /http:\/\/localhost:3000/g;

/** Made when it is first asked for. */
export function clientPackageRoute(app: Api): void {
  let file: Promise<Buffer> | undefined;
  app.get("/sdk.tgz", { schema: { hide: true } }, async (_, reply) => {
    file ??= clientPackage(app.swagger() as OpenApiDocument);
    file.catch(() => {
      file = undefined;
    });
    return reply
      .type("application/gzip")
      .header("cache-control", "public, max-age=300")
      .send(await file);
  });
}

async function clientPackage(document: OpenApiDocument): Promise<Buffer> {
  const baseUrl = document.servers?.[0]?.url ?? "";
  const readme = await readFile(new URL("README.md", SDK), "utf8");
  const files = new Map([
    ["package/package.json", await readFile(new URL("package.json", SDK))],
    ["package/README.md", Buffer.from(readme.replaceAll(ANY_INSTANCE, baseUrl))],
    ["package/LICENSE", await readFile(LICENSE)],
    ["package/src/api.d.ts", Buffer.from(apiTypes(document))],
  ]);
  for (const name of (await readdir(new URL("src/", SDK))).sort())
    files.set(`package/src/${name}`, await readFile(new URL(`src/${name}`, SDK)));
  return await promisify(gzip)(tarFile(files));
}
