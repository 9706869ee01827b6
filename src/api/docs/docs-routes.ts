// GET /docs and the pages below it, made from the OpenAPI document when they are first asked for.
import { readFileSync } from "node:fs";
import type { FastifyReply } from "fastify";
import { Refused } from "../../commands/refusals.ts";
import type { Limits } from "../../events/vocabulary.ts";
import type { Api } from "../fastify.ts";
import type { OpenApiDocument } from "./operation-article.ts";
import { type Docs, docs } from "./pages.ts";
import { LONGEST_QUERY, searchDocs } from "./search.ts";

/** Scripts, styles and searches of its own alone. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const ASSETS = { "docs.css": "text/css; charset=utf-8", "docs.js": "text/javascript; charset=utf-8" };

export function docsRoutes(app: Api, limits: Limits): void {
  const schema = { hide: true };
  let pages: Docs | undefined;
  const all = () => {
    pages ??= docs(app.swagger() as OpenApiDocument, limits);
    return pages;
  };
  const send = (reply: FastifyReply, page: string) =>
    reply.type("text/html; charset=utf-8").header("content-security-policy", CSP).send(page);
  for (const [file, type] of Object.entries(ASSETS)) {
    const text = readFileSync(new URL(`assets/${file}`, import.meta.url));
    app.get(`/docs/${file}`, { schema }, async (_, reply) => reply.type(type).send(text));
  }
  app.get("/docs/search", { schema }, async (request, reply) => {
    const { q } = request.query as { q?: string | string[] };
    const query = String([q ?? ""].flat()[0]).slice(0, LONGEST_QUERY);
    const { index, search } = all();
    return send(reply, search(query, searchDocs(index, query)));
  });
  for (const url of ["/docs", "/docs/", "/docs/:name"])
    app.get(url, { schema }, async (request, reply) => {
      const { name = "" } = request.params as { name?: string };
      const page = all().pages.get(name);
      if (page === undefined) throw new Refused("not_found");
      return send(reply, page);
    });
}
