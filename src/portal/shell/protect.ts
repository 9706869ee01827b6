// What all pages are protected by: security headers, size of forms, and forms of other sites refused (CSRF).
import cookie from "@fastify/cookie";
import formbody from "@fastify/formbody";
import helmet from "@fastify/helmet";
import type { FastifyRequest } from "fastify";
import type { Api } from "../../api/fastify.ts";
import { Refused } from "../../commands/refusals.ts";
import type { PortalDeps } from "../portal-deps.ts";

const FORM_LIMIT_BYTES = 64 * 1024;

/** Security headers, body parsing and CSRF protection. */
export async function protect(site: Api, { baseUrl }: Pick<PortalDeps, "baseUrl">): Promise<void> {
  const isSecure = baseUrl.startsWith("https:");
  const own = ["'self'"];
  await site.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: own,
        imgSrc: ["'self'", "data:"],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
        formAction: own,
      },
    },
    strictTransportSecurity: isSecure ? { maxAge: 31_536_000, includeSubDomains: false } : false,
    referrerPolicy: { policy: "same-origin" },
    xFrameOptions: { action: "deny" },
  });
  await site.register(cookie);
  site.removeAllContentTypeParsers();
  await site.register(formbody, { bodyLimit: FORM_LIMIT_BYTES });
  // Before validation and limits, so that forms of other sites use up no limit.
  site.addHook("preValidation", async (request) => {
    if (!isReading(request) && !isOfOwnSite(request)) throw new Refused("form_refused");
  });
}

function isReading({ method }: FastifyRequest): boolean {
  return method === "GET" || method === "HEAD";
}

/**
 * Whether no other site sent the form: browsers say so in Sec-Fetch-Site (W3C Fetch Metadata), on plain http in Origin
 * (RFC 6454) alone. What has neither is no browser; the session's cookie is SameSite=Lax besides.
 */
function isOfOwnSite({ headers, host }: FastifyRequest): boolean {
  const { "sec-fetch-site": from, origin } = headers;
  if (from !== undefined) return from === "same-origin" || from === "none";
  return origin === undefined || URL.parse(origin)?.host === host;
}

/** The OpenAPI document describes the API only. */
export function hideFromOpenApi(site: Api): void {
  site.addHook("onRoute", (route) => {
    route.schema = { ...route.schema, hide: true };
  });
}
