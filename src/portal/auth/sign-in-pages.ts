// GET and POST /portal/sign-in, POST /portal/sign-out.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { checkCredentials } from "../../commands/account/password.ts";
import { isRefused } from "../../runtime/refused.ts";
import { field } from "../shell/form.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { pathWithin, redirectTo } from "../shell/visit.ts";
import { endSession, type SignInDeps, startSession } from "./start-session.ts";
import { countSignIn } from "./throttle.ts";

const Query = z.object({ next: z.string().optional().catch(undefined) });
const Form = z.object({
  email: z.string().default(""),
  password: z.string().default(""),
  next: z.string().optional(),
});

export function signInPages(app: Api, deps: SignInDeps): void {
  app.get("/sign-in", { schema: { querystring: Query } }, async (request, reply) => {
    const next = pathWithin("/portal", request.query.next);
    if (request.visit.session) return reply.redirect(next, 303);
    return sendForm(reply, { next });
  });

  app.post("/sign-in", { schema: { body: Form } }, async (request, reply) => {
    const { email, password } = request.body;
    const next = pathWithin("/portal", request.body.next);
    try {
      const device = await deps.devices.recognise(request, email);
      await countSignIn(deps, request, email, device);
      const hash = device ? deps.passwordWork.known : deps.passwordWork.unknown;
      const proven = await hash(() => checkCredentials(deps, { email, password }));
      await startSession(deps, request, reply, proven);
      return reply.redirect(next, 303);
    } catch (error) {
      if (isRefused(error, "wrong_credentials")) return sendForm(reply, { email, next, status: 401, error });
      if (!isRefused(error, "rate_limit_exceeded")) throw error;
      reply.header("retry-after", String(error.retryAfter));
      return sendForm(reply, { email, next, status: 429, error });
    }
  });

  app.post("/sign-out", async (request, reply) => {
    await endSession(deps, request, reply);
    return redirectTo(reply, "/portal/sign-in", { kind: "info", text: "You are signed out." });
  });
}

type Given = { next: string; email?: string; status?: number; error?: Error };

function sendForm(reply: FastifyReply, { next, email, status, error }: Given): FastifyReply {
  return sendPage(reply, {
    title: "Sign in",
    shape: "narrow",
    status,
    notice: error && { kind: "failed", text: error.message },
    body: html`<div class="card">
<h1>Sign in</h1>
<form method="post" class="form" action="/portal/sign-in">
<input type="hidden" name="next" value="${next}">
${field({ label: "E-mail address", name: "email", type: "email", value: email, autocomplete: "username", required: true, autofocus: email === undefined })}
${field({ label: "Password", name: "password", type: "password", autocomplete: "current-password", required: true, autofocus: email !== undefined })}
<button class="button button-primary button-wide">Sign in</button>
</form>
<p class="muted">New here? <a href="/portal/sign-up">Create an account</a> · <a href="/portal/reset">Lost your password?</a></p>
</div>`,
  });
}
