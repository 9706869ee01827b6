// What all pages are protected by: security headers, size of forms, and tokens against forms of other sites (CSRF).
import cookie from "@fastify/cookie";
import csrfProtection from "@fastify/csrf-protection";
import formbody from "@fastify/formbody";
import helmet from "@fastify/helmet";
import type { FastifyRequest } from "fastify";
import type { Api } from "../../api/fastify.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { portalCookies } from "./cookies.ts";
import { formOwner } from "./visit.ts";

const FORM_LIMIT_BYTES = 64 * 1024;

/** Security headers, body parsing and CSRF protection. */
export async function protect(
  site: Api,
  { baseUrl, secretKey }: Pick<PortalDeps, "baseUrl" | "secretKey">,
): Promise<void> {
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
  const cookies = portalCookies(baseUrl);
  await site.register(csrfProtection, {
    cookieKey: cookies.forms,
    cookieOpts: cookies.options,
    csrfOpts: { hmacKey: secretKey, userInfo: true },
    getUserInfo: (request) => formOwner(request.visit),
    getToken: (request) =>
      (request.body as { _csrf?: string } | null | undefined)?._csrf ?? headerOf(request, "x-csrf-token"),
  });
  // Checked before validation, because a route's schema drops `_csrf` from the body.
  site.addHook("preValidation", (request, reply, done) => {
    if (request.method === "GET" || request.method === "HEAD") return done();
    if (request.visit.operator?.isToken) return done();
    return site.csrfProtection(request, reply, done);
  });
}

/** The OpenAPI document describes the API only. */
export function hideFromOpenApi(site: Api): void {
  site.addHook("onRoute", (route) => {
    route.schema = { ...route.schema, hide: true };
  });
}

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}
