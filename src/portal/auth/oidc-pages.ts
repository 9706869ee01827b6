// Signing in at the OpenID provider: to it by links, as browsers don't follow a form to another site (form-action), back from it
// to the callback, and out again on both sides.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { tellPerson } from "../../commands/mail/people-mails.ts";
import { personWithIdentity } from "../../commands/people/identities.ts";
import { recordAct } from "../../commands/people/person-stream.ts";
import { isRefused, Refused } from "../../commands/refusals.ts";
import { byAddress, countTry } from "../../limits/rate-limit.ts";
import type { OidcFlow } from "../../sign-in/oidc/oidc-client.ts";
import { linkToPerson, type Oidc, signInAtProvider } from "../../sign-in/oidc/sign-in-at-provider.ts";
import {
  beginFlow,
  CALLBACK_PATH,
  endFlow,
  FLOW_SECONDS,
  type FlowName,
} from "../../sign-in/sign-in-flows.ts";
import { PROFILE_PATH } from "../profile/profile-page.ts";
import { type ShowAgain, shownAgain } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { pathWithin, redirectTo } from "../shell/request-visit.ts";
import type { SignedInPerson } from "../shell/sessions.ts";
import { type SignInDeps, startSession } from "./start-session.ts";

type OidcDeps = SignInDeps & { oidc: Oidc };

/** What the browser was sent away for; `link`: by the session that is signed in. */
type Purpose =
  | { purpose: "sign-in"; next: string }
  | { purpose: "link"; personId: string; sessionId: string };

/** An hour and client address. */
const SIGN_INS_AN_HOUR = 100;

/** `again`: also by who is signed in, to prove that they still sit there. */
export const SignInQuery = z.object({
  next: z.string().optional().catch(undefined),
  again: z.string().optional().catch(undefined),
});
const LogoutForm = z.object({ logout_token: z.string().max(16_384).default("") });

/** `again`: the page of the sign-in, with why it did not succeed. */
export function oidcPages(app: Api, { oidc, ...others }: SignInDeps, again: ShowAgain): void {
  app.get("/signed-out", (_request, reply) => sendSignedOut(reply));
  if (!oidc) return;
  const deps: OidcDeps = { ...others, oidc };
  const errorHandler = shownAgain(again);

  app.get("/oidc", { schema: { querystring: SignInQuery }, errorHandler }, async (request, reply) => {
    await countTry(deps, byAddress("oidc-address", request.ip), SIGN_INS_AN_HOUR);
    const next = pathWithin("/portal", request.query.next);
    const isAgain = request.query.again !== undefined;
    return reply.redirect(await beginOidc(deps, reply, { purpose: "sign-in", next }, isAgain), 303);
  });

  app.get(CALLBACK_PATH.slice("/portal".length), { errorHandler }, (_, reply) => {
    reply.header("cache-control", "no-store");
    return comeBack(deps, reply);
  });

  // Back-channel logout: by the provider itself, which is no browser and sends no cookie.
  app.post("/oidc/logout", { schema: { body: LogoutForm } }, async (request, reply) => {
    reply.header("cache-control", "no-store");
    try {
      const logout = await oidc.client.verifyLogout(request.body.logout_token);
      const { subject } = logout;
      const person =
        subject === undefined ? undefined : await personWithIdentity(deps, { ...logout, subject });
      const ended = await deps.sessions.endAtProvider(logout, person?.personId);
      const context = { requestId: request.id, actor: { type: "system", id: "provider" } } as const;
      const sessions = logout.sid === undefined ? "all" : "one";
      for (const personId of ended) await recordAct(deps, context, personId, "SessionsEnded", { sessions });
      return reply.send({});
    } catch (error) {
      if (!isRefused(error, "provider_refused")) throw error;
      return reply.code(400).send({ error: "invalid_request", error_description: error.message });
    }
  });
}

/** Returns the address at the provider. @throws provider_unavailable */
export async function beginOidc(
  deps: OidcDeps,
  reply: FastifyReply,
  purpose: Purpose,
  isAgain = false,
): Promise<string> {
  const { url, flow } = await deps.oidc.client.begin({ isAgain });
  const { cookies } = reply.request.visit;
  const name: FlowName = { kind: "oidc", id: flow.state };
  const value = await beginFlow(deps, name, { ...purpose, flow });
  reply.setCookie(cookies.flow(name), value, { ...cookies.options, maxAge: FLOW_SECONDS });
  return url;
}

async function comeBack(deps: OidcDeps, reply: FastifyReply): Promise<FastifyReply> {
  const { request } = reply;
  const { cookies, person } = request.visit;
  const query = new URL(request.originalUrl, deps.baseUrl).search;
  const name: FlowName = { kind: "oidc", id: new URLSearchParams(query).get("state") ?? "" };
  const begun = await endFlow<Purpose & { flow: OidcFlow }>(deps, name, request.cookies[cookies.flow(name)]);
  if (!begun) {
    // Browsers repeat requests: the session of the first is there.
    if (person) return reply.redirect("/portal", 303);
    throw new Refused("provider_refused", "This sign-in was begun elsewhere, or too long ago: begin again");
  }
  reply.clearCookie(cookies.flow(name), cookies.options);
  if (begun.purpose === "link") return await comeBackToLink(deps, reply, { ...begun, query });
  const identity = await deps.oidc.client.finish(query, begun.flow);
  const signedIn = await signInAtProvider(deps, request.id, identity);
  const { personId, isOperator, hasAccepted, isLinked, position } = signedIn;
  if (isLinked) void tellPerson(deps, personId, { what: "new way to sign in" });
  await deps.whenReadable(position);
  const { issuer, subject, sid, idToken, issuedAt, authenticatedAt } = identity;
  const provider = { issuer, subject, sid, idToken, issuedAt, authenticatedAt, isOperator };
  await startSession(deps, reply, { personId, way: "oidc", provider });
  // The page of an invitation that is accepted by now has nothing to show.
  const isOver = hasAccepted && begun.next.startsWith("/portal/invitation");
  return reply.redirect(isOver ? "/portal" : begun.next, 303);
}

async function comeBackToLink(
  deps: OidcDeps,
  reply: FastifyReply,
  begun: Extract<Purpose, { purpose: "link" }> & { flow: OidcFlow; query: string },
): Promise<FastifyReply> {
  const { request } = reply;
  const { person } = request.visit;
  const { personId } = begun;
  if (person?.personId !== personId || person.sessionId !== begun.sessionId)
    throw new Refused("provider_refused", "You were signed out meanwhile: sign in, and link it again");
  try {
    const identity = await deps.oidc.client.finish(begun.query, begun.flow);
    const context = { requestId: request.id, actor: { type: "person", id: personId } } as const;
    await linkToPerson(deps, context, personId, identity);
  } catch (error) {
    if (!isRefused(error)) throw error;
    return redirectTo(reply, PROFILE_PATH, { kind: "failed", text: error.message });
  }
  void tellPerson(deps, personId, { what: "new way to sign in" });
  return redirectTo(reply, PROFILE_PATH, {
    kind: "done",
    text: `You sign in with ${deps.oidc.name}, too, from now on.`,
  });
}

/** The link on the page of the sign-in. */
export function oidcButton(
  { oidc }: Pick<SignInDeps, "oidc">,
  next: string,
  isAgain = false,
): Html | undefined {
  if (!oidc) return undefined;
  const { discovery } = oidc.client;
  const path = `/portal/oidc?${new URLSearchParams({ next, ...(isAgain && { again: "1" }) })}`;
  return html`<p><a class="button" href="${path}">Sign in with ${oidc.name}</a></p>
${discovery.state === "failed" && html`<p class="hint">It did not answer a moment ago.</p>`}`;
}

/** Where a form has to lead to the provider: an own page with a link. */
export function sendWayOut(reply: FastifyReply, title: string, url: string, words: string): FastifyReply {
  return sendPage(reply, {
    title,
    shape: "narrow",
    cards: [
      {
        title,
        body: html`<p><a class="button button-primary" href="${url}" rel="noreferrer">${words}</a></p>`,
      },
    ],
  });
}

/** Where the provider sends who has signed out there, too; nothing leads back by itself, which would sign them in again. */
function sendSignedOut(reply: FastifyReply): FastifyReply {
  const title = "You are signed out";
  const body = html`<p><a class="button" href="/portal/sign-in">Sign in</a></p>`;
  return sendPage(reply, { title, shape: "narrow", cards: [{ title, body }] });
}

/** Once the session here has ended: the page with the link to end the one there, too, where there is one. */
export async function sendWayToSignOut(
  { oidc }: Pick<SignInDeps, "oidc">,
  reply: FastifyReply,
  person: SignedInPerson | undefined,
): Promise<FastifyReply | undefined> {
  const { provider } = person ?? {};
  if (!oidc || provider?.issuer !== oidc.client.issuer) return undefined;
  const url = await oidc.client.endSessionUrl(provider.idToken);
  return url === undefined
    ? undefined
    : sendWayOut(reply, "You are signed out here", url, `Sign out of ${oidc.name}, too`);
}
