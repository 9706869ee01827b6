// Sign-up with mail: the address is confirmed by a mailed link before the password is chosen; does not reveal which
// addresses have accounts.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { acceptEmail, accountWithEmail } from "../../commands/account/email.ts";
import { issueToken, lookAtToken, useToken } from "../../commands/account/one-time-tokens.ts";
import { acceptPassword, hashPassword } from "../../commands/account/password.ts";
import type { Mailer } from "../../mail/mailer.ts";
import { isClientError, isRefused, Refused } from "../../runtime/refused.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { alreadyThereMail, SIGN_UP_LINK_HOURS, sendMail, signUpMail } from "./mails.ts";
import { emailField, openAndSignIn, SIGN_UPS_AN_HOUR, sendPasswordForm } from "./sign-up-pages.ts";
import type { SignInDeps } from "./start-session.ts";
import { countByAddress, countMail } from "./throttle.ts";

const EmailForm = z.object({ email: z.string().default("") });
const Token = z.object({ token: z.string().default("") });
const PasswordForm = z.object({ token: z.string().default(""), password: z.string().default("") });
type Pending = { email: string };

const passwordPage = (email: string) => ({
  title: "Choose a password",
  about: `For ${email}.`,
  action: "/portal/sign-up/finish",
  button: "Create account",
});

export function mailedSignUpPages(app: Api, deps: SignInDeps & { mailer: Mailer }): void {
  app.get("/sign-up", async (request, reply) => {
    if (request.visit.session) return reply.redirect("/portal", 303);
    return sendEmailForm(reply, {});
  });

  app.post("/sign-up", { schema: { body: EmailForm } }, async (request, reply) => {
    const { email: given } = request.body;
    await countByAddress(deps, request, "sign-up", SIGN_UPS_AN_HOUR);
    try {
      const email = acceptEmail(given);
      await countMail(deps, email);
      sendMail(deps, () => mailFor(deps, email));
      return sendLookInYourMail(reply, email);
    } catch (error) {
      if (isClientError(error)) return sendEmailForm(reply, { email: given, refused: error });
      throw error;
    }
  });

  app.get("/sign-up/finish", { schema: { querystring: Token } }, async (request, reply) => {
    const { token } = request.query;
    const { email } = await lookAtSignUp(deps, token);
    return sendPasswordForm(reply, passwordPage(email), { token, email });
  });

  app.post("/sign-up/finish", { schema: { body: PasswordForm } }, async (request, reply) => {
    const { token, password } = request.body;
    const { email } = await lookAtSignUp(deps, token);
    try {
      const accepted = acceptPassword(password, { email });
      const passwordHash = await deps.passwordWork.unknown(() => hashPassword(accepted));
      await useToken(deps, "sign-up", token);
      return await openAndSignIn(deps, request, reply, { email, passwordHash });
    } catch (error) {
      if (!isClientError(error) || isRefused(error, "link_expired")) throw error;
      return sendPasswordForm(reply, passwordPage(email), { token, email, refused: error });
    }
  });
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
  const token = await issueToken(
    deps,
    "sign-up",
    { email } satisfies Pending,
    SIGN_UP_LINK_HOURS * 3_600_000,
  );
  return signUpMail(email, `${deps.baseUrl}/portal/sign-up/finish?token=${token}`);
}

function sendEmailForm(reply: FastifyReply, given: { email?: string; refused?: Refused }): FastifyReply {
  return sendPage(reply, {
    title: "Sign up",
    shape: "narrow",
    status: given.refused ? 400 : 200,
    body: html`<div class="card"><h1>Create your account</h1>
<p class="muted">We send you a link; behind it you choose a password.</p>
<form method="post" class="form">${emailField(given)}
<button class="button button-primary button-wide">Send the link</button></form>
<p class="muted">You have an account already? <a href="/portal/sign-in">Sign in</a></p></div>`,
  });
}

function sendLookInYourMail(reply: FastifyReply, email: string): FastifyReply {
  return sendPage(reply, {
    title: "Look in your mail",
    shape: "narrow",
    body: html`<div class="card"><h1>Look in your mail</h1>
<p>A mail to <strong>${email}</strong> is on its way. The link in it works for ${SIGN_UP_LINK_HOURS} hours.</p>
<p class="muted">Nothing there after a few minutes? Look among the unwanted mail, or <a href="/portal/sign-up">try again</a>.</p></div>`,
  });
}
