// Password reset under /portal/reset: by a mailed link, or without mail by a link from the operator.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { accountWithEmail } from "../../commands/account/email.ts";
import { issuePasswordReset, lookAtReset, resetPassword } from "../../commands/account/one-time-tokens.ts";
import { isClientError, isRefused } from "../../runtime/refused.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { copyable } from "../shell/form.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { redirectTo } from "../shell/visit.ts";
import { RESET_LINK_MINUTES, resetMail, sendMail } from "./mails.ts";
import { emailField, sendPasswordForm } from "./sign-up-pages.ts";
import { type SignInDeps, startSession } from "./start-session.ts";
import { countByAddress, countMail } from "./throttle.ts";

const RESETS_AN_HOUR = 20;

const EmailForm = z.object({ email: z.string().max(254).default("") });
const Token = z.object({ token: z.string().default("") });
const PasswordForm = z.object({ token: z.string().default(""), password: z.string().default("") });

const passwordPage = (email: string) => ({
  title: "Choose a new password",
  about: `For ${email}. You are signed out everywhere else.`,
  action: "/portal/reset/choose",
  button: "Set password",
});

export function resetPages(app: Api, deps: SignInDeps): void {
  const { mailer } = deps;
  app.get("/reset", async (_request, reply) => sendPage(reply, mailer ? emailPage(reply) : operatorPage));

  if (mailer)
    app.post("/reset", { schema: { body: EmailForm } }, async (request, reply) => {
      const { email } = request.body;
      await countByAddress(deps, request, "reset", RESETS_AN_HOUR);
      await countMail(deps, email);
      sendMail({ ...deps, mailer }, () => mailFor(deps, email));
      return sendPage(reply, sentPage(email));
    });

  app.get("/reset/choose", { schema: { querystring: Token } }, async (request, reply) => {
    const { token } = request.query;
    const { email } = await lookAtReset(deps, token);
    return sendPasswordForm(reply, passwordPage(email), { token, email });
  });

  app.post("/reset/choose", { schema: { body: PasswordForm } }, async (request, reply) => {
    const { token, password } = request.body;
    await countByAddress(deps, request, "reset", RESETS_AN_HOUR);
    try {
      const proven = await deps.passwordWork.known(() => resetPassword(deps, token, password));
      await deps.sessions.endAll(proven.accountId);
      await startSession(deps, request, reply, proven);
      return redirectTo(reply, "/portal", { kind: "done", text: "Your new password is set." });
    } catch (error) {
      if (!isClientError(error) || isRefused(error, "link_expired")) throw error;
      const { email } = await lookAtReset(deps, token);
      return sendPasswordForm(reply, passwordPage(email), { token, email, refused: error });
    }
  });
}

async function mailFor(deps: PortalDeps, email: string) {
  const holder = await accountWithEmail(deps, email);
  if (!holder) return undefined;
  const { path } = await issuePasswordReset(deps, holder.accountId, RESET_LINK_MINUTES * 60_000);
  return resetMail(holder.email, `${deps.baseUrl}${path}`);
}

function emailPage(_reply: FastifyReply) {
  return {
    title: "Reset your password",
    shape: "narrow",
    body: html`<div class="card"><h1>Reset your password</h1>
<p class="muted">We send a link to choose a new one, if there is an account with this address.</p>
<form method="post" class="form">${emailField({})}
<button class="button button-primary button-wide">Send the link</button></form>
<p class="muted"><a href="/portal/sign-in">Back to sign in</a></p></div>`,
  } as const;
}

const operatorPage = {
  title: "Reset your password",
  shape: "narrow",
  body: html`<div class="card"><h1>Reset your password</h1>
<p>This service sends no mail, so its operator resets passwords. Ask for a link that lets you choose a new one; the operator makes it with</p>
${copyable("command", "npx linkledger account password you@example.com", "the command")}
<p class="muted"><a href="/portal/sign-in">Back to sign in</a></p></div>`,
} as const;

function sentPage(email: string) {
  return {
    title: "Look in your mail",
    shape: "narrow",
    body: html`<div class="card"><h1>Look in your mail</h1>
<p>If there is an account for <strong>${email}</strong>, a mail is on its way. The link in it works for ${RESET_LINK_MINUTES} minutes.</p>
<p class="muted">Nothing there after a few minutes? Look among the unwanted mail, or <a href="/portal/reset">try again</a>.</p></div>`,
  } as const;
}
