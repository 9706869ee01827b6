// Sign-up: with a mail server the address is confirmed by a mailed link before the password is chosen, without one the
// account is opened at once. Where it is closed, only the operator's invitations open accounts.
import type { FastifyReply } from "fastify";
import type { Api } from "../../api/fastify.ts";
import { signUp } from "../../commands/account/sign-up.ts";
import { acceptEmail, personWithEmail } from "../../commands/people/email.ts";
import {
  type Invitation,
  invite,
  lookAtInvitation,
  useToken,
} from "../../commands/people/one-time-tokens.ts";
import { acceptPassword, hashPassword } from "../../commands/people/password.ts";
import { Refused } from "../../commands/refusals.ts";
import { html } from "../shell/html.ts";
import { copyable } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { addressForm, EMAIL_FIELD, NEW_PASSWORD_FIELD, openForm, tokenPage } from "./form-page.ts";
import { mail, SIGN_UP_LINK_HOURS } from "./mails.ts";
import { type SignInDeps, startSession } from "./start-session.ts";

const PAGE = { path: "/sign-up", title: "Sign up", heading: "Create your account" } as const;

export function signUpPages(app: Api, deps: SignInDeps): void {
  const { mailer } = deps;
  if (deps.signUp === "closed") closedSignUp(app);
  else if (mailer) mailedSignUp(app, { ...deps, mailer });
  else directSignUp(app, deps);
  finishSignUp(app, deps);
}

function closedSignUp(app: Api): void {
  app.get("/sign-up", (_request, reply) =>
    sendPage(reply, {
      title: PAGE.title,
      shape: "narrow",
      cards: [
        {
          title: "Accounts are made by the operator",
          body: html`<p>Nobody opens an account here for themselves. Ask the operator of this service for an invitation: a link with which you choose your password.</p>
${copyable("command", "bin/linkledger account invite you@example.com", "the operator's command")}
<p class="muted">You have an account already? <a href="/portal/sign-in">Sign in</a></p>`,
        },
      ],
    }),
  );
  app.post("/sign-up", async () => {
    throw new Refused("sign_up_closed");
  });
}

/** The form reveals when an address is taken. */
function directSignUp(app: Api, deps: SignInDeps): void {
  openForm(app, deps, {
    ...PAGE,
    lead: "Ready in a moment.",
    button: "Create account",
    below: html`You have one already? <a href="/portal/sign-in">Sign in</a>`,
    fields: { ...EMAIL_FIELD, ...NEW_PASSWORD_FIELD },
    run: ({ email, password }, reply) =>
      openAndSignIn(deps, reply, { email: acceptEmail(email), password }, async () => ({
        tier: deps.defaultTier,
        isMailed: false,
      })),
  });
}

function mailedSignUp(app: Api, deps: Parameters<typeof addressForm>[1]): void {
  addressForm(app, deps, {
    ...PAGE,
    lead: "We send you a link; behind it you choose a password.",
    accept: acceptEmail,
    below: html`You have an account already? <a href="/portal/sign-in">Sign in</a>`,
    compose: async (email) => {
      const holder = await personWithEmail(deps, email);
      if (holder) return mail("alreadyThere", holder.email, deps.baseUrl);
      const invitation = { email, tier: deps.defaultTier, isMailed: true };
      const { path } = await invite(deps, invitation, SIGN_UP_LINK_HOURS * 3_600_000);
      return mail("signUp", email, `${deps.baseUrl}${path}`);
    },
    sent: (email) =>
      html`A mail to <strong>${email}</strong> is on its way. The link in it works for ${SIGN_UP_LINK_HOURS} hours.`,
  });
}

/** The page behind a mailed link, and behind an invitation. */
function finishSignUp(app: Api, deps: SignInDeps): void {
  tokenPage(app, {
    path: "/sign-up/finish",
    title: "Choose a password",
    lead: (email) => `For ${email}.`,
    button: "Create account",
    asksPassword: true,
    lookAt: (token) => lookAtInvitation(deps, token),
    use: async ({ token, password }, reply) => {
      const { email } = await lookAtInvitation(deps, token);
      const consume = () => useToken<Invitation>(deps, "sign-up", token);
      return await openAndSignIn(deps, reply, { email, password }, consume);
    },
  });
}

/**
 * Waits until the account is readable, so that the first page shows it. `consume`: called once the password is accepted;
 * consumes the invitation, where there is one. @throws Refused
 */
async function openAndSignIn(
  deps: SignInDeps,
  reply: FastifyReply,
  { email, password }: { email: string; password: string },
  consume: () => Promise<Pick<Invitation, "tier" | "isMailed">>,
): Promise<FastifyReply> {
  const accepted = acceptPassword(password, { email });
  const passwordHash = await deps.passwordWork.unknown(() => hashPassword(accepted));
  const { tier, isMailed } = await consume();
  const context = { requestId: reply.request.id, actor: { type: "system", id: "sign-up" } } as const;
  const newcomer = { email, passwordHash, tier, isProven: isMailed };
  const { accountId, epoch, position } = await signUp(deps, context, newcomer);
  await deps.whenReadable(position);
  await startSession(deps, reply, { personId: accountId, accountId, way: "password", epoch });
  return reply.redirect("/portal", 303);
}
