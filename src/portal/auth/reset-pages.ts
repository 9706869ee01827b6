// Password reset under /portal/reset: by a mailed link, or without mail by a link from the operator.
import type { Api } from "../../api/fastify.ts";
import { accountWithEmail } from "../../commands/account/email.ts";
import { issuePasswordReset, lookAtReset, resetPassword } from "../../commands/account/one-time-tokens.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { copyable } from "../shell/form.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { redirectTo } from "../shell/visit.ts";
import { RESET_LINK_MINUTES, resetMail } from "./mails.ts";
import { addressForm, FORMS_AN_HOUR, passwordLink } from "./password-link.ts";
import { type SignInDeps, startSession } from "./start-session.ts";
import { countByAddress } from "./throttle.ts";

const TITLE = "Reset your password";

export function resetPages(app: Api, deps: SignInDeps): void {
  const { mailer } = deps;
  const backToSignIn = html`<a href="/portal/sign-in">Back to sign in</a>`;
  if (mailer)
    addressForm(
      app,
      { ...deps, mailer },
      {
        ...{ path: "/reset", title: TITLE, below: backToSignIn },
        lead: "We send a link to choose a new one, if there is an account with this address.",
        accept: (given) => given,
        mail: (email) => mailFor(deps, email),
        sent: (email) =>
          html`If there is an account for <strong>${email}</strong>, a mail is on its way. The link in it works for ${RESET_LINK_MINUTES} minutes.`,
      },
    );
  else
    app.get("/reset", async (_request, reply) =>
      sendPage(reply, {
        ...{ title: TITLE, shape: "narrow" },
        body: html`<div class="card"><h1>${TITLE}</h1>
<p>This service sends no mail, so its operator resets passwords. Ask for a link that lets you choose a new one; the operator makes it with</p>
${copyable("command", "npx linkledger account password you@example.com", "the command")}
<p class="muted">${backToSignIn}</p></div>`,
      }),
    );

  passwordLink(app, {
    ...{ path: "/reset/choose", title: "Choose a new password", button: "Set password" },
    about: " You are signed out everywhere else.",
    lookAt: (token) => lookAtReset(deps, token),
    finish: async (request, reply, { token, password }) => {
      await countByAddress(deps, request, "reset", FORMS_AN_HOUR);
      const proven = await deps.passwordWork.known(() => resetPassword(deps, token, password));
      await deps.sessions.endAll(proven.accountId);
      await startSession(deps, request, reply, proven);
      return redirectTo(reply, "/portal", { kind: "done", text: "Your new password is set." });
    },
  });
}

async function mailFor(deps: PortalDeps, email: string) {
  const holder = await accountWithEmail(deps, email);
  if (!holder) return undefined;
  const { path } = await issuePasswordReset(deps, holder.accountId, RESET_LINK_MINUTES * 60_000);
  return resetMail(holder.email, `${deps.baseUrl}${path}`);
}
