// GET and POST /portal/sign-up without mail: opens an account; also the parts shared with mailed-sign-up-pages.ts.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { acceptEmail } from "../../commands/account/email.ts";
import { acceptPassword, hashPassword, PASSWORD_MIN } from "../../commands/account/password.ts";
import { signUp } from "../../commands/account/sign-up.ts";
import { isClientError, type Refused } from "../../runtime/refused.ts";
import { field } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { type SignInDeps, startSession } from "./start-session.ts";
import { countByAddress } from "./throttle.ts";

export const SIGN_UPS_AN_HOUR = 20;

const Form = z.object({ email: z.string().default(""), password: z.string().default("") });

/** Opens the account immediately, so the form reveals when an address is taken. */
export function signUpPages(app: Api, deps: SignInDeps): void {
  app.get("/sign-up", async (request, reply) => {
    if (request.visit.session) return reply.redirect("/portal", 303);
    return sendForm(reply, {});
  });

  app.post("/sign-up", { schema: { body: Form } }, async (request, reply) => {
    const { email: given, password } = request.body;
    await countByAddress(deps, request, "sign-up", SIGN_UPS_AN_HOUR);
    try {
      const email = acceptEmail(given);
      const accepted = acceptPassword(password, { email });
      const passwordHash = await deps.passwordWork.unknown(() => hashPassword(accepted));
      return await openAndSignIn(deps, request, reply, { email, passwordHash });
    } catch (error) {
      if (isClientError(error)) return sendForm(reply, { email: given, refused: error });
      throw error;
    }
  });
}

/** Waits until the account is readable, so that the first page shows it. @throws Refused */
export async function openAndSignIn(
  deps: SignInDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  newcomer: { email: string; passwordHash: string },
): Promise<FastifyReply> {
  const context = { requestId: request.id, actor: { type: "system", id: "sign-up" } } as const;
  const { accountId, epoch, position } = await signUp(deps, context, {
    ...newcomer,
    tier: deps.defaultTier,
  });
  await deps.whenReadable(position);
  await startSession(deps, request, reply, { accountId, epoch });
  return reply.redirect("/portal", 303);
}

function sendForm(reply: FastifyReply, given: { email?: string; refused?: Refused }): FastifyReply {
  return sendPage(reply, {
    title: "Sign up",
    shape: "narrow",
    status: given.refused ? 400 : 200,
    body: html`<div class="card">
<h1>Create your account</h1>
<p class="muted">Ready in a moment.</p>
<form method="post" class="form">
${emailField(given)}
${newPasswordField(given.refused)}
<button class="button button-primary button-wide">Create account</button>
</form>
<p class="muted">You have one already? <a href="/portal/sign-in">Sign in</a></p>
</div>`,
  });
}

/** The page of a one-time link, on which a password is chosen. `about`: below the title; `action`: where it is sent. */
export function sendPasswordForm(
  reply: FastifyReply,
  { title, about, action, button }: Record<"title" | "about" | "action" | "button", string>,
  { token, email, refused }: { token: string; email: string; refused?: Refused },
): FastifyReply {
  const isOther = refused && refused.field !== "password";
  return sendPage(reply, {
    title,
    shape: "narrow",
    status: refused ? 400 : 200,
    notice: isOther ? { kind: "failed", text: refused.message } : undefined,
    body: html`<div class="card"><h1>${title}</h1><p class="muted">${about}</p>
<form method="post" action="${action}" class="form">
<input type="hidden" name="token" value="${token}">
<input type="text" name="username" autocomplete="username" value="${email}" hidden>
${newPasswordField(refused)}
<button class="button button-primary button-wide">${button}</button></form></div>`,
  });
}

export function emailField(given: { email?: string | undefined; refused?: Refused | undefined }): Html {
  return field({
    ...{ label: "E-mail address", name: "email", type: "email", autocomplete: "email" },
    ...{ required: true, maxlength: 254, autofocus: true, value: given.email },
    error: given.refused?.field === "email" ? given.refused.message : undefined,
  });
}

function newPasswordField(refused: Refused | undefined): Html {
  return field({
    ...{ label: "Password", name: "password", type: "password", autocomplete: "new-password" },
    ...{ required: true, minlength: PASSWORD_MIN },
    hint: `At least ${PASSWORD_MIN} characters; a few words together are good.`,
    error: refused?.field === "password" ? refused.message : undefined,
  });
}
