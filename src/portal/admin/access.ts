// Who may use the console: people who are marked as operators, by their session of the portal; whoever signs in with
// ADMIN_TOKEN, for the length of a session, or sends it with a request of the JSON API; wrong tokens are limited.
import { hash, randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { bearerToken } from "../../api/key-guard.ts";
import { isAdminToken } from "../../api/operations/operator-request.ts";
import type { CommandContext } from "../../commands/caller.ts";
import { isOperator } from "../../commands/people/person-stream.ts";
import { recordActions } from "../../commands/record-actions.ts";
import { Refused } from "../../commands/refusals.ts";
import type { FindClicks } from "../../queries/audit/find-clicks.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { PortalDeps, Watched } from "../portal-deps.ts";
import { shownAgain } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { type RefusedForm, typedText } from "../shell/refused-form.ts";
import { type PortalVisit, pathWithin, redirectTo } from "../shell/request-visit.ts";
import { type Sessions, signInPlace } from "../shell/sessions.ts";

/** With what the questions need (queries/audit/questions.ts). */
export type ConsoleDeps = PortalDeps &
  Watched & {
    operators: ReturnType<typeof operatorSessions>;
    sessions: Sessions;
    findClicks: FindClicks;
    matchingClicks: PortalDeps["logReader"]["matchingClicks"];
    /** How long clicks are searched for one answer. */
    searchMs: number;
  };

/** Counted from the sign-in. */
const SESSION_HOURS = 12;
const HOUR_MS = 3_600_000;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** `epoch`: of the ADMIN_TOKEN at the sign-in. */
type OperatorRecord = { createdAt: string; epoch: string };

/** A random token in a cookie, of which only the SHA-256 is stored; void when ADMIN_TOKEN changes. */
export function operatorSessions(deps: {
  secrets: Secrets;
  clock: () => Date;
  adminToken: string | undefined;
}) {
  const { secrets, clock } = deps;
  const epoch = hash("sha256", `epoch of ${deps.adminToken}`);
  const keyOf = (sessionId: string) => `operator-session/${sessionId}`;
  return {
    /** Returns the cookie's value: always a new one, which prevents session fixation. */
    async open(): Promise<string> {
      const token = randomBytes(32).toString("base64url");
      const now = clock();
      const value: OperatorRecord = { createdAt: now.toISOString(), epoch };
      const expiresAt = new Date(now.getTime() + SESSION_HOURS * HOUR_MS).toISOString();
      await secrets.put(keyOf(hash("sha256", token)), { value, expiresAt });
      return token;
    },

    /** The session's id, which is not secret; undefined for a missing, unknown, ended or expired session. */
    async find(cookie: string | undefined): Promise<string | undefined> {
      if (cookie === undefined || deps.adminToken === undefined || !TOKEN.test(cookie)) return undefined;
      const sessionId = hash("sha256", cookie);
      const record = (await secrets.get(keyOf(sessionId), clock())) as OperatorRecord | undefined;
      return record?.epoch === epoch ? sessionId : undefined;
    },

    end: (sessionId: string) => secrets.delete(keyOf(sessionId)),
  };
}

/**
 * By the cookies of the console and the portal; also by a group at the provider, while that session lasts and groups give it still
 * (OIDC_GROUPS). Whoever came with ADMIN_TOKEN is no person here.
 */
export async function operatorIn(
  {
    operators,
    sessions,
    eventStore,
    oidc,
  }: Pick<ConsoleDeps, "operators" | "sessions" | "eventStore" | "oidc">,
  cookies: { token: string | undefined; person: string | undefined },
): Promise<Partial<Pick<PortalVisit, "person" | "operator">>> {
  const operator = await operators.find(cookies.token);
  if (operator) return { operator };
  const { person } = (await sessions.find(cookies.person)) ?? {};
  const isGiven = oidc?.groups.some(({ gives }) => gives === "operator");
  const isByGroup = isGiven && person?.provider?.isOperator === true;
  if (!person || !(isByGroup || (await isOperator(eventStore, person.personId)))) return {};
  return { person, operator: person.sessionId };
}

/** Of a context that acts as the operator. */
export function operatorContext({ id: requestId, visit: { person } }: FastifyRequest): CommandContext {
  return { requestId, actor: { type: "operator", ...(person && { id: person.personId }) } };
}

/** Without ADMIN_TOKEN there is nothing to see for who is no operator. */
export function hiddenWithoutToken(app: Api, { adminToken }: ConsoleDeps): void {
  app.addHook("onRequest", async ({ visit }) => {
    if (adminToken === undefined && !visit.operator) throw new Refused("not_found");
  });
}

/** Pages: without a session a GET goes to the sign-in and comes back. */
export function operatorPages(app: Api): void {
  app.addHook("onRequest", async (request, reply) => {
    if (request.visit.operator) return;
    const next = request.method === "GET" ? `?next=${encodeURIComponent(request.url)}` : "";
    await reply.redirect(`/admin/sign-in${next}`, 303);
  });
}

/** Routes of the JSON API: a token, or the session of the console. */
export function operatorApi(app: Api, deps: ConsoleDeps): void {
  app.addHook("onRequest", async (request, reply) => {
    reply.header("cache-control", "no-store");
    const token = bearerToken(request);
    if (token !== undefined) {
      const operator = (await isAdminToken(deps, request, token)) ? "token" : undefined;
      request.visit = { ...request.visit, operator, person: undefined };
    }
    if (!request.visit.operator) throw new Refused("invalid_admin_token");
  });
}

const Query = z.object({ next: z.string().optional().catch(undefined) });
const Form = z.object({ token: z.string().max(1_000).default(""), next: z.string().optional() });

export function signInPages(app: Api, deps: ConsoleDeps): void {
  app.get("/sign-in", { schema: { querystring: Query } }, async (request, reply) => {
    const next = pathWithin("/admin", request.query.next);
    if (request.visit.operator) return reply.redirect(next, 303);
    return sendForm(reply, next);
  });

  const errorHandler = shownAgain((reply, refused) =>
    sendForm(reply, pathWithin("/admin", typedText(refused.typed, "next")), refused),
  );
  app.post("/sign-in", { schema: { body: Form }, errorHandler }, async (request, reply) => {
    const { token, next } = request.body;
    if (!(await isAdminToken(deps, request, token)))
      throw new Refused("invalid_admin_token", "That is not the ADMIN_TOKEN of this service.");
    const { cookies, operator } = request.visit;
    // Recorded first: there is no session that the log does not know of.
    const signedIn = { type: "OperatorSignedIn", data: signInPlace(request) } as const;
    await recordActions(deps, operatorContext(request), [signedIn]);
    if (operator) await deps.operators.end(operator);
    // It ends with the browser.
    const options = { ...cookies.options, sameSite: "strict" } as const;
    reply.setCookie(cookies.operator, await deps.operators.open(), options);
    return reply.redirect(pathWithin("/admin", next), 303);
  });

  app.post("/sign-out", async (request, reply) => {
    const { operator, person, cookies } = request.visit;
    if (person) await deps.sessions.end(person.personId, person.sessionId);
    else if (operator) await deps.operators.end(operator);
    reply.clearCookie(person ? cookies.session : cookies.operator, cookies.options);
    const to = person ? "/portal/sign-in" : "/admin/sign-in";
    return redirectTo(reply, to, { kind: "info", text: "You are signed out." });
  });
}

function sendForm(reply: FastifyReply, next: string, refused?: RefusedForm): FastifyReply {
  const lead = html`For operators and auditors of this service. What you do here is recorded. Were you marked as an operator? <a href="/portal/sign-in">Sign in to the portal</a>, and open this page again.`;
  const token = { label: "Admin token", type: "password", hint: "The value of ADMIN_TOKEN" } as const;
  const fields = { token: { ...token, autocomplete: "current-password", required: true, autofocus: true } };
  const form = { action: "/admin/sign-in", fields, hidden: { next }, button: "Sign in" } as const;
  return sendPage(reply, {
    title: "Console",
    shape: "narrow",
    refused,
    cards: [{ title: "Console", lead, form: { ...form, buttonKind: "primary" } }],
  });
}
