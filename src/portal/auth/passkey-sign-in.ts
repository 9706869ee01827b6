// Signing in by a passkey: the browser asks for a challenge, its authenticator answers, and a form brings the answer. Without an
// address, as passkeys name their person.
import { isIP } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { byAddress, countTry } from "../../limits/rate-limit.ts";
import {
  beginSignIn,
  type Ceremony,
  type CeremonyAnswer,
  finishSignIn,
} from "../../sign-in/passkey-ceremonies.ts";
import { FLOW_SECONDS } from "../../sign-in/sign-in-flows.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { hiddenFields } from "../shell/controls.ts";
import { type ShowAgain, shownAgain } from "../shell/form-route.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { pathWithin } from "../shell/request-visit.ts";
import { type SignInDeps, startSession } from "./start-session.ts";

const PATH = "/sign-in/passkey";
/** Scripts of pages with a passkey's form. */
export const PASSKEY_SCRIPTS = ["passkeys.js"];
/** Challenges and answers, an hour and client address. */
const TRIES_AN_HOUR = 100;

/** What a form of a passkey is sent with. */
export const AnswerForm = z.object({
  flow: z.string().max(100).default(""),
  response: z.string().default(""),
});
const SignInForm = AnswerForm.extend({ next: z.string().optional() });

/** Passkeys are of a host name: browsers make none for an address. */
export function takesPasskeys({ signIn, baseHost }: Pick<PortalDeps, "signIn" | "baseHost">): boolean {
  return signIn.includes("passkey") && isIP(baseHost.replace(/^\[|\]$/g, "")) === 0;
}

export function passkeySignIn(app: Api, deps: SignInDeps, again: ShowAgain): void {
  if (!takesPasskeys(deps)) return;
  const count = ({ ip }: FastifyRequest) => countTry(deps, byAddress("passkey-address", ip), TRIES_AN_HOUR);

  app.post(`${PATH}/begin`, async (request, reply) => {
    await count(request);
    return sendCeremony(reply, await beginSignIn(deps));
  });

  const options = { schema: { body: SignInForm }, errorHandler: shownAgain(again) };
  app.post(PATH, options, async (request, reply) => {
    await count(request);
    const { personId } = await finishSignIn(deps, takeAnswer(reply, request.body));
    await startSession(deps, reply, { personId, way: "passkey" });
    return reply.redirect(pathWithin("/portal", request.body.next), 303);
  });
}

/** The button on the page of the sign-in; shown by its script. */
export function passkeyButton(next: string): Html {
  return passkeyForm({
    action: `/portal${PATH}`,
    fields: hiddenFields({ next }),
    button: "Sign in with a passkey",
  });
}

type PasskeyForm = { action: string; fields: HtmlValue; button: string };

/** A form that the browser's authenticator answers; its challenge is asked for at `begin` below its action. */
export function passkeyForm({ action, fields, button }: PasskeyForm): Html {
  return html`<form method="post" class="form" action="${action}" data-passkey="${action}/begin" hidden>${fields}${hiddenFields({ flow: "", response: "" })}
<p class="error" role="alert" hidden></p>
<div><button class="button">${button}</button></div></form>
<noscript><p class="hint">Passkeys need scripts.</p></noscript>`;
}

/** For the script, with the cookie by which the answer is known to come from the same browser. */
export function sendCeremony(reply: FastifyReply, { options, flow, cookie }: Ceremony<object>): FastifyReply {
  const { cookies } = reply.request.visit;
  const name = cookies.flow({ kind: "passkey", id: flow });
  reply.setCookie(name, cookie, { ...cookies.options, maxAge: FLOW_SECONDS });
  return reply.header("cache-control", "no-store").send({ flow, options });
}

export function takeAnswer(
  reply: FastifyReply,
  { flow, response }: z.infer<typeof AnswerForm>,
): CeremonyAnswer {
  const { request } = reply;
  const { cookies } = request.visit;
  const name = cookies.flow({ kind: "passkey", id: flow });
  reply.clearCookie(name, cookies.options);
  return { flow, response, cookie: request.cookies[name] };
}
