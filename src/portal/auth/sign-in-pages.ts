// GET and POST /portal/sign-in, by password, passkey, provider or a link of the operator; POST /portal/sign-out.
import { hash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { lookAtSignInLink, useSignInLink } from "../../commands/people/one-time-tokens.ts";
import { checkCredentials } from "../../commands/people/password.ts";
import { personByEmailSecret } from "../../commands/people/secrets.ts";
import { Refused } from "../../commands/refusals.ts";
import { byAddress, type CountDeps, countTry } from "../../limits/rate-limit.ts";
import { addressOf } from "../../runtime/addresses/networks.ts";
import type { Fields } from "../shell/controls.ts";
import { type ShowAgain, shownAgain } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { type RefusedForm, typedText } from "../shell/refused-form.ts";
import { pathWithin, redirectTo } from "../shell/request-visit.ts";
import { ACCOUNTS_PATH } from "../shell/sessions.ts";
import { tokenPage } from "./form-page.ts";
import { oidcButton, oidcPages, SignInQuery, sendWayToSignOut } from "./oidc-pages.ts";
import { PASSKEY_SCRIPTS, passkeyButton, passkeySignIn, takesPasskeys } from "./passkey-sign-in.ts";
import { endSession, type SignInDeps, startSession } from "./start-session.ts";

const TITLE = "Sign in";
const Form = z.object({
  email: z.string().default(""),
  password: z.string().default(""),
  next: z.string().optional(),
});

export function signInPages(app: Api, deps: SignInDeps): void {
  app.get("/sign-in", { schema: { querystring: SignInQuery } }, async (request, reply) => {
    const next = pathWithin("/portal", request.query.next);
    const { session, person } = request.visit;
    const isAgain = request.query.again !== undefined;
    if (isAgain || !person) return sendForm(deps, reply, { next, isAgain });
    const needsNoAccount = /^\/portal\/(invitation|profile)\b/.test(next);
    return reply.redirect(session || needsNoAccount ? next : ACCOUNTS_PATH, 303);
  });

  const again: ShowAgain = (reply, refused) =>
    sendForm(deps, reply, { next: pathWithin("/portal", typedText(refused.typed, "next")) }, refused);
  passkeySignIn(app, deps, again);
  oidcPages(app, deps, again);
  // Made by the operator for somebody who can't sign in otherwise.
  tokenPage(app, {
    path: "/sign-in/link",
    title: TITLE,
    lead: (email) => `${email && `As ${email}. `}The link works once.`,
    button: TITLE,
    asksPassword: false,
    lookAt: (token) => lookAtSignInLink(deps, token),
    use: async ({ token }, reply) => {
      await startSession(deps, reply, { ...(await useSignInLink(deps, token)), way: "link" });
      return redirectTo(reply, "/portal", { kind: "done", text: "You are signed in." });
    },
  });
  app.post(
    "/sign-in",
    { schema: { body: Form }, errorHandler: shownAgain(again) },
    async (request, reply) => {
      if (!deps.signIn.includes("password")) throw new Refused("sign_in_off");
      const { email, password, next } = request.body;
      const device = await deps.devices.recognise(request, email);
      await countSignIn(deps, request, email, device);
      const verify = device ? deps.passwordWork.known : deps.passwordWork.unknown;
      const proven = await verify(() => checkCredentials(deps, { email, password }));
      await startSession(deps, reply, { ...proven, way: "password" });
      return reply.redirect(pathWithin("/portal", next), 303);
    },
  );

  app.post("/sign-out", async (request, reply) => {
    await endSession(deps, reply);
    const wayOut = await sendWayToSignOut(deps, reply, request.visit.person);
    if (wayOut) return wayOut;
    return redirectTo(reply, "/portal/sign-in", { kind: "info", text: "You are signed out." });
  });
}

function sendForm(
  deps: Pick<SignInDeps, "signIn" | "baseHost" | "oidc">,
  reply: FastifyReply,
  { next, isAgain = false }: { next: string; isAgain?: boolean },
  refused?: RefusedForm,
): FastifyReply {
  const fields = {
    email: {
      label: "E-mail address",
      type: "email",
      autocomplete: "username",
      required: true,
      autofocus: !refused,
    },
    password: {
      label: "Password",
      type: "password",
      autocomplete: "current-password",
      required: true,
      autofocus: refused !== undefined,
    },
  } satisfies Fields;
  const hasPasswords = deps.signIn.includes("password");
  const form = { action: "/portal/sign-in", hidden: { next }, fields, button: TITLE } as const;
  const elsewhere = html`<p class="muted">${reply.request.visit.isSignUpOpen && html`New here? <a href="/portal/sign-up">Create an account</a> · `}<a href="/portal/reset">Lost your password?</a></p>`;
  return sendPage(reply, {
    title: TITLE,
    shape: "narrow",
    refused,
    scripts: takesPasskeys(deps) ? PASSKEY_SCRIPTS : [],
    cards: [
      {
        title: TITLE,
        form: hasPasswords ? { ...form, buttonKind: "primary" } : undefined,
        below: html`${takesPasskeys(deps) && passkeyButton(next)}${oidcButton(deps, next, isAgain)}${hasPasswords && elsewhere}`,
      },
    ],
  });
}

/**
 * Per hour. The limit per account is wider than per pair, so that knowing an address is not enough to lock its owner
 * out quickly.
 */
const TRIES = { pair: 15, account: 100, address: 100, device: 15 } as const;

/**
 * Limits attempts at passwords by client address, account, and both together. A browser with a device cookie of the account
 * (`deviceId`) has a limit of its own, which attempts of others don't use up. @throws rate_limit_exceeded
 */
export async function countSignIn(
  deps: CountDeps,
  { ip }: { ip: string },
  email: string,
  deviceId: string | undefined,
): Promise<void> {
  if (deviceId !== undefined) return await countTry(deps, `sign-in-device ${deviceId}`, TRIES.device);
  const account = personByEmailSecret(email);
  await countTry(deps, byAddress("sign-in-address", ip), TRIES.address);
  await countTry(deps, `sign-in-pair ${hash("sha256", `${account} ${addressOf(ip)}`)}`, TRIES.pair);
  await countTry(deps, `sign-in-account ${account}`, TRIES.account);
}
