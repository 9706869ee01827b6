// Sign-up: with a mail server the address is confirmed by a mailed link before the password is chosen, without one the
// account is opened at once.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Api } from "../../api/fastify.ts";
import { acceptEmail, accountWithEmail } from "../../commands/account/email.ts";
import { issueToken, lookAtToken, useToken } from "../../commands/account/one-time-tokens.ts";
import { acceptPassword, hashPassword } from "../../commands/account/password.ts";
import { signUp } from "../../commands/account/sign-up.ts";
import { Refused } from "../../runtime/refused.ts";
import { html } from "../shell/html.ts";
import { addressForm, emailField, newPasswordField, openForm, passwordLink } from "./form-page.ts";
import { mail, SIGN_UP_LINK_HOURS } from "./mails.ts";
import { type SignInDeps, startSession } from "./start-session.ts";

const PAGE = { path: "/sign-up", title: "Sign up", heading: "Create your account" } as const;

/** What is kept for a mailed link. */
type Pending = { email: string };

export function signUpPages(app: Api, deps: SignInDeps): void {
  const { mailer } = deps;
  if (mailer) mailedSignUp(app, { ...deps, mailer });
  else directSignUp(app, deps);
}

/** The form reveals when an address is taken. */
function directSignUp(app: Api, deps: SignInDeps): void {
  openForm(app, deps, {
    ...{ ...PAGE, lead: "Ready in a moment.", button: "Create account" },
    below: html`You have one already? <a href="/portal/sign-in">Sign in</a>`,
    fields: (refused) => html`${emailField(refused)}${newPasswordField(refused)}`,
    atFields: ["email", "password"],
    run: ({ email, password }, request, reply) =>
      openAndSignIn(deps, request, reply, { email: acceptEmail(email), password }),
  });
}

function mailedSignUp(app: Api, deps: Parameters<typeof addressForm>[1]): void {
  addressForm(app, deps, {
    ...{ ...PAGE, lead: "We send you a link; behind it you choose a password.", accept: acceptEmail },
    below: html`You have an account already? <a href="/portal/sign-in">Sign in</a>`,
    compose: async (email) => {
      const holder = await accountWithEmail(deps, email);
      if (holder) return mail("alreadyThere", holder.email, deps.baseUrl);
      const pending: Pending = { email };
      const token = await issueToken(deps, "sign-up", pending, SIGN_UP_LINK_HOURS * 3_600_000);
      return mail("signUp", email, `${deps.baseUrl}/portal/sign-up/finish?token=${token}`);
    },
    sent: (email) =>
      html`A mail to <strong>${email}</strong> is on its way. The link in it works for ${SIGN_UP_LINK_HOURS} hours.`,
  });
  passwordLink(app, {
    ...{ path: "/sign-up/finish", title: "Choose a password", about: "", button: "Create account" },
    lookAt: async (token) => {
      const pending = await lookAtToken<Pending>(deps, "sign-up", token);
      if (await accountWithEmail(deps, pending.email)) throw new Refused("link_expired");
      return pending;
    },
    finish: (request, reply, { token, ...newcomer }) =>
      openAndSignIn(deps, request, reply, newcomer, () => useToken(deps, "sign-up", token)),
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
  { email, password }: { email: string; password: string },
  proven?: () => Promise<unknown>,
): Promise<FastifyReply> {
  const accepted = acceptPassword(password, { email });
  const passwordHash = await deps.passwordWork.unknown(() => hashPassword(accepted));
  await proven?.();
  const context = { requestId: request.id, actor: { type: "system", id: "sign-up" } } as const;
  const newcomer = { email, passwordHash, tier: deps.defaultTier };
  const { accountId, epoch, position } = await signUp(deps, context, newcomer);
  await deps.whenReadable(position);
  await startSession(deps, request, reply, { accountId, epoch });
  return reply.redirect("/portal", 303);
}
