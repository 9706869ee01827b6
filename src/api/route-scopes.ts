// Which scope of an API key each route wants: the one list, for the key guard and for OpenAPI.
import type { KeyScope } from "../events/vocabulary.ts";
import type { Api } from "./fastify.ts";
import { apiErrors } from "./schemas.ts";

export const SCOPES: Readonly<Record<string, KeyScope>> = {
  "POST /api/v1/shorten": "links:write",
  "POST /api/v1/shorten/bulk": "links:write",
  "GET /api/v1/links": "links:read",
  "GET /api/v1/links/:slug": "links:read",
  "GET /api/v1/links/:slug/history": "links:read",
  "GET /api/v1/links/:slug/proof": "links:read",
  "PATCH /api/v1/links/:slug": "links:write",
  "DELETE /api/v1/links/:slug": "links:write",
  "POST /api/v1/links/:slug/restore": "links:write",
  "PATCH /api/v1/links/bulk": "links:write",
  "DELETE /api/v1/links/bulk": "links:write",
  "POST /api/v1/links/bulk/delete": "links:write",
  "GET /api/v1/tags": "links:read",
  "PATCH /api/v1/tags/:tag": "links:write",
  "GET /api/v1/saved-filters": "links:read",
  "POST /api/v1/saved-filters": "links:write",
  "DELETE /api/v1/saved-filters/:name": "links:write",
  "GET /api/v1/analytics": "analytics:read",
  "GET /api/v1/analytics/:slug": "analytics:read",
  "GET /api/v1/analytics/:slug/range": "analytics:read",
  "GET /api/v1/analytics/:slug/changes": "analytics:read",
  "GET /api/v1/changes": "analytics:read",
  "GET /api/v1/clicks": "analytics:read",
  "GET /api/v1/clicks/export": "analytics:read",
  "GET /api/v1/shared-pages": "analytics:read",
  "POST /api/v1/shared-pages": "analytics:share",
  "DELETE /api/v1/shared-pages/:page_id": "analytics:share",
  "GET /api/v1/events": "events:read",
  "GET /api/v1/events/stream": "events:read",
  "GET /api/v1/cloudevents": "events:read",
  "GET /api/v1/cloudevents/stream": "events:read",
  "GET /api/v1/webhooks/:webhook_id/deliveries/stream": "events:read",
  "GET /api/v1/members": "members",
  "PATCH /api/v1/members/:person_id": "members",
  "DELETE /api/v1/members/:person_id": "members",
  "GET /api/v1/invitations": "members",
  "POST /api/v1/invitations": "members",
  "DELETE /api/v1/invitations/:invitation_id": "members",
};

type Schema = { security?: readonly object[]; description?: string; response?: Record<string, unknown> };

/**
 * Must be called before the routes are registered. Their scope is `config.scope`, and OpenAPI has it as the role that the
 * operation needs (OpenAPI 3.1, security requirement). A route without a row does not start.
 */
export function scopeRoutes(keyed: Api): void {
  keyed.addHook("onRoute", (route) => {
    const [method = ""] = [route.method].flat();
    const name = `${method === "HEAD" ? "GET" : method} ${route.url}`;
    const scope = SCOPES[name];
    if (!scope) throw new Error(`${name} has no scope: give it a row in route-scopes.ts`);
    route.config = { ...route.config, scope };
    const schema = (route.schema ?? {}) as Schema;
    route.schema = {
      ...schema,
      security: [{ apiKey: [scope] }, { bearer: [scope] }],
      description: `${schema.description ?? ""}\n\nScope of the key: \`${scope}\`.`.trim(),
      response: { ...apiErrors(403), ...schema.response },
    };
  });
}

/** @throws Error for a route that `scopeRoutes` has not seen */
export function scopeOf({ scope }: { scope?: KeyScope }): KeyScope {
  if (!scope) throw new Error("This route has no scope");
  return scope;
}
