// GET and POST /portal/sign-up: an account of the Free tier for an e-mail address and a password.

import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../api/fastify.ts";
import { CommandRefused } from "../commands/errors.ts";
import { acceptEmail } from "../commands/open-account.ts";
import { acceptPassword, hashPassword, PASSWORD_MIN } from "../commands/password.ts";
import { signUp } from "../commands/sign-up.ts";
import { field } from "./form.ts";
import { html } from "./html.ts";
import { csrfField, sendPage } from "./page.ts";
import type { PortalDeps } from "./portal-deps.ts";
import type { Sessions } from "./sessions.ts";
import { startSession } from "./start-session.ts";
import { countByAddress } from "./throttle.ts";

const ACCOUNTS_AN_HOUR = 20;

const Form = z.object({ email: z.string().default(""), password: z.string().default("") });

export function signUpPages(app: Api, deps: PortalDeps & { sessions: Sessions }): void {
  app.get("/sign-up", async (request, reply) => {
    if (request.visit.session) return reply.redirect("/portal", 303);
    return sendForm(reply, {});
  });

  app.post("/sign-up", { schema: { body: Form } }, async (request, reply) => {
    const { email: given, password } = request.body;
    await countByAddress(deps, request, "sign-up", ACCOUNTS_AN_HOUR);
    try {
      const email = acceptEmail(given);
      const passwordHash = await hashPassword(acceptPassword(password, { email }));
      const context = { requestId: request.id, actor: { type: "system", id: "sign-up" } } as const;
      const { accountId, position } = await signUp(deps, context, { email, passwordHash });
      await deps.whenReadable(position);
      await startSession(deps, request, reply, accountId);
      return reply.redirect("/portal", 303);
    } catch (error) {
      if (error instanceof CommandRefused) return sendForm(reply, { email: given, refused: error });
      throw error;
    }
  });
}

function sendForm(
  reply: FastifyReply,
  { email, refused }: { email?: string; refused?: CommandRefused },
): FastifyReply {
  const errorOn = (codes: string[]) =>
    refused && codes.includes(refused.code) ? refused.message : undefined;
  return sendPage(reply, {
    title: "Sign up",
    shape: "narrow",
    status: refused ? 400 : 200,
    body: html`<div class="card">
<h1>Create your account</h1>
<p class="muted">Free, and ready in a moment.</p>
<form method="post" class="form">${csrfField(reply)}
${field({ label: "E-mail address", name: "email", type: "email", value: email, autocomplete: "email", required: true, maxlength: 254, autofocus: true, error: errorOn(["invalid_email", "email_taken"]) })}
${field({ label: "Password", name: "password", type: "password", autocomplete: "new-password", required: true, minlength: PASSWORD_MIN, hint: `At least ${PASSWORD_MIN} characters; a few words together are good.`, error: errorOn(["password_refused"]) })}
<button class="button button-primary button-wide">Create account</button>
</form>
<p class="muted">You have one already? <a href="/portal/sign-in">Sign in</a></p>
</div>`,
  });
}
