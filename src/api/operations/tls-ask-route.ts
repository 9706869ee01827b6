// GET /internal/tls/ask?domain=: whether a TLS proxy may obtain a certificate for a name (Caddy's on-demand TLS).
import { z } from "zod";
import { domainsInService } from "../../queries/domains.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { canonicalHost } from "../../redirect/http/hosts.ts";
import type { Api } from "../fastify.ts";
import { isFromThisMachine, isSameSecret } from "./operator-request.ts";

const Ask = z.object({ domain: z.string().max(300).default(""), secret: z.string().max(200).optional() });

/**
 * 200 for verified active domains, 404 for every other name, 403 unless the request comes from this machine (and is not
 * forwarded) or carries the secret.
 */
export function tlsAskRoute(app: Api, deps: { readStore: ReadStore; secret: string | undefined }): void {
  app.get("/internal/tls/ask", { schema: { hide: true, querystring: Ask } }, async (request, reply) => {
    const { domain, secret } = request.query;
    reply.header("cache-control", "no-store").type("text/plain; charset=utf-8");
    if (!isFromThisMachine(request) && !isSameSecret(secret, deps.secret))
      return reply.code(403).send("forbidden\n");
    const hostname = canonicalHost(domain);
    const found = hostname === "" ? [] : await domainsInService(deps, hostname);
    return found.length > 0 ? reply.send("yes\n") : reply.code(404).send("no\n");
  });
}
