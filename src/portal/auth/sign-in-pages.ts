// GET and POST /portal/sign-in, POST /portal/sign-out.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { checkCredentials } from "../../commands/people/password.ts";
import { Refused } from "../../commands/refusals.ts";
import { field, hiddenFields } from "../shell/controls.ts";
import { type ShowAgain, shownAgain } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { type RefusedForm, typedText } from "../shell/refused-form.ts";
import { pathWithin, redirectTo } from "../shell/request-visit.ts";
import { ACCOUNTS_PATH } from "../shell/sessions.ts";
import { sendFormPage } from "./form-page.ts";
import { oidcButton, oidcPages, sendWayToSignOut } from "./oidc-pages.ts";
import { PASSKEY_SCRIPTS, passkeyButton, passkeySignIn, takesPasskeys } from "./passkey-sign-in.ts";
import { endSession, type SignInDeps, startSession } from "./start-session.ts";
import { countSignIn } from "./throttle.ts";

/** `again`: also shown to who is signed in, to prove that they still sit there. */
const Query = z.object({
  next: z.string().optional().catch(undefined),
  again: z.string().optional().catch(undefined),
});
const Form = z.object({
  email: z.string().default(""),
  password: z.string().default(""),
  next: z.string().optional(),
});

export function signInPages(app: Api, deps: SignInDeps): void {
  app.get("/sign-in", { schema: { querystring: Query } }, async (request, reply) => {
    const next = pathWithin("/portal", request.query.next);
    const { session, person } = request.visit;
    const isAgain = request.query.again !== undefined;
    if (isAgain || !person) return sendForm(deps, reply, { next, isAgain });
    const needsNoAccount = /^\/portal\/(invitation|profile)\b/.test(next);
    return reply.redirect(session || needsNoAccount ? next : ACCOUNTS_PATH, 303);
  });

  const again: ShowAgain = (refused, _request, reply) =>
    sendForm(deps, reply, { next: pathWithin("/portal", typedText(refused.typed, "next")) }, refused);
  passkeySignIn(app, deps, again);
  oidcPages(app, deps, again);
  app.post(
    "/sign-in",
    { schema: { body: Form }, errorHandler: shownAgain(again) },
    async (request, reply) => {
      if (!deps.signIn.includes("password")) throw new Refused("sign_in_off");
      const { email, password, next } = request.body;
      const device = await deps.devices.recognise(request, email);
      await countSignIn(deps, request, email, device);
      const hash = device ? deps.passwordWork.known : deps.passwordWork.unknown;
      const proven = await hash(() => checkCredentials(deps, { email, password }));
      await startSession(deps, request, reply, { ...proven, way: "password" });
      return reply.redirect(pathWithin("/portal", next), 303);
    },
  );

  app.post("/sign-out", async (request, reply) => {
    await endSession(deps, request, reply);
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
  const email = field({
    label: "E-mail address",
    name: "email",
    type: "email",
    autocomplete: "username",
    required: true,
    autofocus: !refused,
    value: refused && typedText(refused.typed, "email"),
  });
  const password = field({
    label: "Password",
    name: "password",
    type: "password",
    autocomplete: "current-password",
    required: true,
    autofocus: refused !== undefined,
  });
  const hasPasswords = deps.signIn.includes("password");
  return sendFormPage(reply, {
    title: "Sign in",
    action: "/portal/sign-in",
    button: "Sign in",
    refused,
    fields: hasPasswords && html`${hiddenFields({ next })}${email}${password}`,
    others: html`${takesPasskeys(deps) && passkeyButton(next)}${oidcButton(deps, next, isAgain)}`,
    scripts: takesPasskeys(deps) ? PASSKEY_SCRIPTS : [],
    below:
      hasPasswords &&
      html`${reply.request.visit.isSignUpOpen && html`New here? <a href="/portal/sign-up">Create an account</a> · `}<a href="/portal/reset">Lost your password?</a>`,
  });
}
