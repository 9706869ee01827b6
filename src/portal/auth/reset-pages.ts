// Password reset under /portal/reset: by a mailed link, or without mail by a link from the operator.
import type { Api } from "../../api/fastify.ts";
import { tellPerson } from "../../commands/mail/people-mails.ts";
import { personWithEmail } from "../../commands/people/email.ts";
import { issuePasswordReset, lookAtReset, resetPassword } from "../../commands/people/one-time-tokens.ts";
import { Refused } from "../../commands/refusals.ts";
import { html } from "../shell/html.ts";
import { copyable } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { redirectTo } from "../shell/request-visit.ts";
import { addressForm, countForm, tokenPage } from "./form-page.ts";
import { mail, RESET_LINK_MINUTES } from "./mails.ts";
import { type SignInDeps, startSession } from "./start-session.ts";

const TITLE = "Reset your password";
const BELOW = html`<a href="/portal/sign-in">Back to sign in</a>`;

export function resetPages(app: Api, deps: SignInDeps): void {
  const { mailer } = deps;
  if (mailer) mailedReset(app, { ...deps, mailer });
  else app.get("/reset", (_request, reply) => sendPage(reply, askTheOperator));

  tokenPage(app, {
    path: "/reset/choose",
    title: "Choose a new password",
    lead: (email) => `For ${email}. You are signed out everywhere else.`,
    button: "Set password",
    asksPassword: true,
    lookAt: (token) => lookAtReset(deps, token),
    use: async ({ token, password }, reply) => {
      const { request } = reply;
      await countForm(deps, "/reset", request);
      const proven = await deps.passwordWork.known(() => resetPassword(deps, request.id, token, password));
      await deps.sessions.endAll(proven.personId);
      void tellPerson(deps, proven.personId, { what: "password" });
      await startSession(deps, reply, { ...proven, way: "password" });
      return redirectTo(reply, "/portal", { kind: "done", text: "Your new password is set." });
    },
  });
}

/** Where nobody signs in with a password, nobody chooses one. */
export function passwordsOff(app: Api): void {
  for (const path of ["/sign-up", "/sign-up/finish", "/reset", "/reset/choose"])
    app.all(path, async () => {
      throw new Refused("sign_in_off");
    });
}

function mailedReset(app: Api, deps: Parameters<typeof addressForm>[1]): void {
  addressForm(app, deps, {
    path: "/reset",
    title: TITLE,
    below: BELOW,
    lead: "We send a link to choose a new one, if there is an account with this address.",
    accept: (typed) => typed,
    compose: async (email) => {
      const holder = await personWithEmail(deps, email);
      if (!holder) return undefined;
      const { path } = await issuePasswordReset(deps, holder.personId, {
        lifetimeMs: RESET_LINK_MINUTES * 60_000,
        isMailed: true,
      });
      return mail("reset", holder.email, `${deps.baseUrl}${path}`);
    },
    sent: (email) =>
      html`If there is an account for <strong>${email}</strong>, a mail is on its way. The link in it works for ${RESET_LINK_MINUTES} minutes.`,
  });
}

const askTheOperator = {
  title: TITLE,
  shape: "narrow",
  cards: [
    {
      title: TITLE,
      body: html`<p>This service sends no mail, so its operator resets passwords. Ask for a link that lets you choose a new one; the operator makes it with</p>
${copyable("command", "bin/linkledger account password you@example.com", "the command")}
<p class="muted">${BELOW}</p>`,
    },
  ],
} as const;
