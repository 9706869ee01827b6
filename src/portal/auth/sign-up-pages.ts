// Sign-up: with a mail server the address is confirmed by a mailed link before the password is chosen, without one the
// account is opened at once.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { acceptEmail, accountWithEmail } from "../../commands/account/email.ts";
import { issueToken, lookAtToken, useToken } from "../../commands/account/one-time-tokens.ts";
import { acceptPassword, hashPassword } from "../../commands/account/password.ts";
import { signUp } from "../../commands/account/sign-up.ts";
import type { Mailer } from "../../mail/mailer.ts";
import { Refused } from "../../runtime/refused.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { type RefusedForm, shownAgain } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { emailField, newPasswordField, sendFormPage } from "./form-page.ts";
import { alreadyThereMail, SIGN_UP_LINK_HOURS, signUpMail } from "./mails.ts";
import { addressForm, FORMS_AN_HOUR, passwordLink } from "./password-link.ts";
import { type SignInDeps, startSession } from "./start-session.ts";
import { countByAddress } from "./throttle.ts";

const Form = z.object({ email: z.string().default(""), password: z.string().default("") });

type Pending = { email: string };

export function signUpPages(app: Api, deps: SignInDeps): void {
  const { mailer } = deps;
  if (mailer) mailedSignUp(app, { ...deps, mailer });
  else directSignUp(app, deps);
}

/** The form reveals when an address is taken. */
function directSignUp(app: Api, deps: SignInDeps): void {
  const send = (reply: FastifyReply, refused?: RefusedForm) =>
    sendFormPage(reply, {
      ...{ title: "Sign up", heading: "Create your account", lead: "Ready in a moment." },
      fields: html`${emailField(refused)}${newPasswordField(refused)}`,
      button: "Create account",
      below: html`You have one already? <a href="/portal/sign-in">Sign in</a>`,
      ...{ refused, atFields: ["email", "password"] },
    });

  app.get("/sign-up", async (request, reply) => {
    if (request.visit.session) return reply.redirect("/portal", 303);
    return send(reply);
  });

  const errorHandler = shownAgain((refused, _request, reply) => send(reply, refused));
  app.post("/sign-up", { schema: { body: Form }, errorHandler }, async (request, reply) => {
    await countByAddress(deps, request, "sign-up", FORMS_AN_HOUR);
    const email = acceptEmail(request.body.email);
    return await openAndSignIn(deps, request, reply, email, request.body.password);
  });
}

function mailedSignUp(app: Api, deps: SignInDeps & { mailer: Mailer }): void {
  addressForm(app, deps, {
    ...{ path: "/sign-up", title: "Sign up", heading: "Create your account" },
    lead: "We send you a link; behind it you choose a password.",
    below: html`You have an account already? <a href="/portal/sign-in">Sign in</a>`,
    accept: acceptEmail,
    mail: (email) => mailFor(deps, email),
    sent: (email) =>
      html`A mail to <strong>${email}</strong> is on its way. The link in it works for ${SIGN_UP_LINK_HOURS} hours.`,
  });
  passwordLink(app, {
    ...{ path: "/sign-up/finish", title: "Choose a password", about: "", button: "Create account" },
    lookAt: (token) => lookAtSignUp(deps, token),
    finish: (request, reply, { token, email, password }) =>
      openAndSignIn(deps, request, reply, email, password, () => useToken(deps, "sign-up", token)),
  });
}

/**
 * Waits until the account is readable, so that the first page shows it. `proven`: consumes the link, once the password
 * is accepted. @throws Refused
 */
async function openAndSignIn(
  deps: SignInDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  email: string,
  password: string,
  proven: () => Promise<unknown> = async () => undefined,
): Promise<FastifyReply> {
  const accepted = acceptPassword(password, { email });
  const passwordHash = await deps.passwordWork.unknown(() => hashPassword(accepted));
  await proven();
  const context = { requestId: request.id, actor: { type: "system", id: "sign-up" } } as const;
  const newcomer = { email, passwordHash, tier: deps.defaultTier };
  const { accountId, epoch, position } = await signUp(deps, context, newcomer);
  await deps.whenReadable(position);
  await startSession(deps, request, reply, { accountId, epoch });
  return reply.redirect("/portal", 303);
}

/** Reads a sign-up token, which is void once the address has an account. @throws link_expired */
async function lookAtSignUp(deps: PortalDeps, token: string): Promise<Pending> {
  const pending = await lookAtToken<Pending>(deps, "sign-up", token);
  if (await accountWithEmail(deps, pending.email)) throw new Refused("link_expired");
  return pending;
}

async function mailFor(deps: PortalDeps, email: string) {
  const holder = await accountWithEmail(deps, email);
  if (holder) return alreadyThereMail(holder.email, deps.baseUrl);
  const pending: Pending = { email };
  const token = await issueToken(deps, "sign-up", pending, SIGN_UP_LINK_HOURS * 3_600_000);
  return signUpMail(email, `${deps.baseUrl}/portal/sign-up/finish?token=${token}`);
}
