// The forms of /portal/account: address, password, sessions.
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { acceptEmail, type ChangedEmail, changeEmail } from "../../commands/account/email.ts";
import {
  confirmEmailChange,
  issueEmailChange,
  lookAtEmailChange,
} from "../../commands/account/one-time-tokens.ts";
import { changePassword, provePassword } from "../../commands/account/password.ts";
import { isClientError, Refused } from "../../runtime/refused.ts";
import { addressChangedMail, EMAIL_LINK_HOURS, newAddressMail, sendMail } from "../auth/mails.ts";
import { endSession, type SignInDeps, startSession } from "../auth/start-session.ts";
import { countMail, countReauthentication } from "../auth/throttle.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { redirectTo } from "../shell/visit.ts";
import { sendAccountPage } from "./account-page.ts";

const EmailForm = z.object({ email: z.string().default(""), password: z.string().default("") });
const PasswordForm = z.object({ password: z.string().default(""), wanted: z.string().default("") });
const Token = z.object({ token: z.string().default("") });
const SessionParams = z.object({ sessionId: z.string().regex(/^[0-9a-f]{64}$/) });

export function accountChanges(app: Api, deps: SignInDeps): void {
  const preHandler = requireSession;
  app.post("/account/email", { preHandler, schema: { body: EmailForm } }, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { email, password } = request.body;
    try {
      await reauthenticate(deps, request, password);
      const text = deps.mailer
        ? await mailConfirmation({ ...deps, mailer: deps.mailer }, accountId, email)
        : addressChanged(deps, await changeEmail(deps, accountId, email));
      return redirectTo(reply, "/portal/account", { kind: "done", text });
    } catch (refused) {
      if (!isClientError(refused)) throw refused;
      return sendAccountPage(deps, request, reply, { form: "email", refused, email });
    }
  });

  app.get("/account/email/confirm", { schema: { querystring: Token } }, async (request, reply) => {
    const { token } = request.query;
    const { email } = await lookAtEmailChange(deps, token);
    return sendPage(reply, {
      title: "Confirm your new address",
      shape: "narrow",
      body: html`<div class="card"><h1>Confirm your new address</h1><p>From now on you sign in with <strong>${email}</strong>.</p>
<form method="post"><input type="hidden" name="token" value="${token}">
<button class="button button-primary button-wide">Use this address</button></form></div>`,
    });
  });

  app.post("/account/email/confirm", { schema: { body: Token } }, async (request, reply) => {
    const changed = await confirmEmailChange(deps, request.body.token);
    return redirectTo(reply, "/portal/account", { kind: "done", text: addressChanged(deps, changed) });
  });

  app.post("/account/password", { preHandler, schema: { body: PasswordForm } }, async (request, reply) => {
    const { accountId, sessionId } = signedIn(request);
    const { password, wanted } = request.body;
    try {
      await countReauthentication(deps, sessionId);
      const change = () => changePassword(deps, accountId, { current: password, wanted });
      const { epoch } = await deps.passwordWork.known(change);
      await deps.sessions.endAll(accountId);
      await startSession(deps, request, reply, { accountId, epoch });
    } catch (refused) {
      if (!isClientError(refused)) throw refused;
      return sendAccountPage(deps, request, reply, { form: "password", refused });
    }
    return redirectTo(reply, "/portal/account", { kind: "done", text: "Your new password is set." });
  });

  const one = { preHandler, schema: { params: SessionParams } };
  app.post("/account/sessions/:sessionId/end", one, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { sessionId } = request.params;
    const own = await deps.sessions.list(accountId);
    if (!own.some((session) => session.sessionId === sessionId))
      throw new Refused("not_found", "There is no such session");
    await deps.sessions.end(accountId, sessionId);
    return redirectTo(reply, "/portal/account", { kind: "done", text: "That browser is signed out." });
  });

  app.post("/account/sessions/end-all", { preHandler }, async (request, reply) => {
    const { accountId } = signedIn(request);
    await deps.sessions.endAll(accountId);
    await deps.devices.forgetAll(accountId);
    await endSession(deps, request, reply);
    return redirectTo(reply, "/portal/sign-in", { kind: "info", text: "You are signed out everywhere." });
  });
}

/**
 * Re-authenticates a signed-in user by password: a session alone is not enough for this change.
 * @throws rate_limit_exceeded, wrong_password
 */
export async function reauthenticate(
  deps: SignInDeps,
  request: FastifyRequest,
  password: string,
): Promise<void> {
  const { accountId, sessionId } = signedIn(request);
  await countReauthentication(deps, sessionId);
  await deps.passwordWork.known(() => provePassword(deps, accountId, password));
}

/**
 * Mails a confirmation link to the new address and returns the text to show. The text is the same when the address
 * belongs to another account; confirmEmailChange checks that again.
 */
async function mailConfirmation(
  deps: PortalDeps & { mailer: NonNullable<PortalDeps["mailer"]> },
  accountId: string,
  given: string,
): Promise<string> {
  const email = acceptEmail(given);
  await countMail(deps, email);
  sendMail(deps, async () => {
    const link = await issueEmailChange(deps, accountId, email, EMAIL_LINK_HOURS * 3_600_000);
    return link && newAddressMail(email, `${deps.baseUrl}${link.path}`);
  });
  return `A mail to ${email} is on its way: follow its link, and the address is yours to sign in with.`;
}

/** Notifies the previous address; returns the text to show. */
function addressChanged(deps: PortalDeps, { previous, email }: ChangedEmail): string {
  const { mailer } = deps;
  if (mailer && previous)
    sendMail({ ...deps, mailer }, async () => addressChangedMail(previous, deps.baseUrl));
  return `You sign in with ${email} from now on.`;
}
