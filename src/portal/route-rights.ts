// Which right each page and form of the portal wants: the one list, for the check of every request, and for what pages offer.

import type { FastifyRequest } from "fastify";
import type { Api } from "../api/fastify.ts";
import { may, type Right } from "../commands/people/rights.ts";
import { Refused } from "../commands/refusals.ts";
import type { Role } from "../events/vocabulary.ts";
import { leadToSignIn } from "./shell/sessions.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** What a page or form wants of who is signed in. */
    right?: Access;
  }
}

/** `anyone`: also without a session. `person`: of who is signed in, whatever they are in the account. */
type Access = Right | "anyone" | "person";

/** Without the prefix /portal. A row without a method is a page and the form with its address. */
const ROUTES: Readonly<Record<Access, readonly string[]>> = {
  anyone: [
    "GET /assets/:version/:file",
    "POST /theme",
    "/sign-up",
    "/sign-up/finish",
    "/sign-in",
    "/sign-in/link",
    "POST /sign-out",
    "GET /signed-out",
    "GET /oidc",
    "GET /oidc/callback",
    "POST /oidc/logout",
    "/reset",
    "/reset/choose",
    "POST /sign-in/passkey/begin",
    "POST /sign-in/passkey",
    "/profile/email/confirm",
    "/invitation",
    "POST /invitation/accept",
  ],
  person: [
    "/accounts",
    "GET /profile",
    "POST /profile/name",
    "POST /profile/email",
    "POST /profile/password",
    "POST /profile/password/remove",
    "POST /profile/passkeys/begin",
    "POST /profile/passkeys",
    "POST /profile/passkeys/:passkeyId/rename",
    "POST /profile/passkeys/:passkeyId/remove",
    "POST /profile/sessions/:sessionId/end",
    "POST /profile/identities",
    "POST /profile/identities/:identityId/unlink",
    "POST /profile/sessions/end-all",
    "POST /news/dismiss",
  ],
  read: [
    "GET /",
    "GET /analytics",
    "GET /analytics/why",
    "GET /analytics/numbers.csv",
    "GET /analytics/clicks.csv",
    "GET /analytics/clicks.ndjson",
    "GET /live",
    "GET /links/:host/:slug/clicks.csv",
    "GET /links/:host/:slug/clicks.ndjson",
    "GET /links",
    "GET /links/:host/:slug",
    "GET /links/:host/:slug/explain",
    "GET /links/:host/:slug/proof.ndjson",
    "GET /tags",
    "GET /tags/names",
    "/proof",
    "GET /members",
    "GET /account",
    "GET /account/export",
    "POST /account/leave",
  ],
  edit: [
    "/links/new",
    "POST /links",
    "POST /links/:host/:slug/edit",
    "POST /links/:host/:slug/disable",
    "POST /links/:host/:slug/enable",
    "POST /links/:host/:slug/delete",
    "POST /links/:host/:slug/restore",
    "POST /links/several",
    "POST /links/:host/:slug/draft",
    "POST /links/filters",
    "POST /links/filters/remove",
    "POST /links/:host/:slug/qr",
    "POST /links/:host/:slug/qr/show",
    "/links/many",
    "POST /tags",
    "/keys",
    "POST /keys/:keyId/rotate",
    "POST /keys/:keyId/deactivate",
  ],
  manage: [
    "POST /account/brand",
    "/shared",
    "POST /shared/:pageId/end",
    "POST /shared/mails",
    "POST /shared/mails/:mailId/stop",
    "POST /account/logo",
    "POST /account/logo/remove",
    "POST /account/time-zone",
    "/domains",
    "GET /domains/:hostname",
    "POST /domains/:hostname/home",
    "POST /domains/:hostname/verify",
    "POST /domains/:hostname/activate",
    "POST /domains/:hostname/deactivate",
    "POST /domains/:hostname/remove",
    "/webhooks",
    "GET /webhooks/:webhookId",
    "POST /webhooks/:webhookId/test",
    "POST /webhooks/:webhookId/pause",
    "POST /webhooks/:webhookId/resume",
    "POST /webhooks/:webhookId/remove",
    "POST /webhooks/:webhookId/settings",
    "POST /webhooks/:webhookId/rotate",
    "POST /webhooks/:webhookId/recover",
    "GET /webhooks/:webhookId/deliveries/:eventId",
    "POST /webhooks/:webhookId/deliveries/:eventId/resend",
  ],
  members: [
    "POST /members",
    "POST /members/:personId/role",
    "POST /members/:personId/remove",
    "POST /members/invitations/:invitationId/resend",
    "POST /members/invitations/:invitationId/withdraw",
  ],
  own: [
    "GET /plan",
    "POST /plan/upgrade",
    "POST /plan/withdraw",
    "POST /plan/downgrade",
    "POST /account/close",
  ],
};

const RIGHT_OF: ReadonlyMap<string, Access> = new Map(
  Object.entries(ROUTES).flatMap(([access, routes]) =>
    routes
      .flatMap((route) => (route.startsWith("/") ? [`GET ${route}`, `POST ${route}`] : route))
      .map((route) => [route, access as Access] as const),
  ),
);

const partsOf = (route: string) => route.split(/[ /]+/);
const PATTERNS = [...RIGHT_OF].map(([route, access]) => ({ pattern: partsOf(route), access }));

const PREFIX = "/portal";

/**
 * Must be called before the routes are registered. A route without a row does not start. Who is signed in without the right is
 * refused, whatever the page showed when it was opened; who is not is led to the sign-in, by forms (form-route.ts) themselves.
 */
export function rightRoutes(app: Api): void {
  app.addHook("onRoute", (route) => {
    const [method = ""] = [route.method].flat();
    const right = rightOf(`${method === "HEAD" ? "GET" : method} ${route.url}`);
    route.config = { ...route.config, right };
  });
  app.addHook("preValidation", async ({ visit, routeOptions }) => {
    const { right } = routeOptions.config;
    if (right === undefined || !isOfAccount(right)) return;
    const { session, person, accountId } = visit;
    if (person && accountId !== undefined && !session) throw new Refused("not_a_member");
    if (session && !mayOpen(session.role, right)) throw new Refused("not_permitted");
  });
  app.addHook("preHandler", async (request, reply) => {
    if (request.method !== "POST" && !isSignedIn(request))
      await leadToSignIn(request, reply, request.originalUrl);
  });
}

/** As far as the route wants it: in an account, or at all. */
export function isSignedIn({ visit, routeOptions }: FastifyRequest): boolean {
  const { right = "anyone" } = routeOptions.config;
  return right === "anyone" || Boolean(isOfAccount(right) ? visit.session : visit.person);
}

/** `route`: its method and address, such as `GET /portal/keys`. @throws Error for one without a row */
export function rightOf(route: string): Access {
  const [method = "", url = ""] = route.split(" ");
  const right = RIGHT_OF.get(`${method} ${pathOf(url)}`);
  if (!right) throw new Error(`${route} has no right: give it a row in route-rights.ts`);
  return right;
}

/** Whether it is about an account. */
export function isOfAccount(access: Access): access is Right {
  return access !== "anyone" && access !== "person";
}

/** Whether somebody with the role may open the page of the portal, or send the form, at this address. */
export function mayAsk(role: Role, method: "GET" | "POST", address: string): boolean {
  const access = accessAt(method, address);
  return access === undefined || mayOpen(role, access);
}

/** Of an address on a page, such as `/portal/links/go.example.com/spring?tab=1`; undefined where there is no such route. */
export function accessAt(method: "GET" | "POST", address: string): Access | undefined {
  const route = `${method} ${pathOf(address.replace(/[?#].*$/, ""))}`;
  const parts = partsOf(route);
  const isOf = ({ pattern }: (typeof PATTERNS)[number]) =>
    pattern.length === parts.length && pattern.every((part, n) => part.startsWith(":") || part === parts[n]);
  return RIGHT_OF.get(route) ?? PATTERNS.find(isOf)?.access;
}

function pathOf(url: string): string {
  return url.slice(PREFIX.length).replace(/\/$/, "") || "/";
}

function mayOpen(role: Role, access: Access): boolean {
  return !isOfAccount(access) || may(role, access);
}
