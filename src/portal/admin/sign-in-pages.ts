// GET and POST /admin/sign-in, POST /admin/sign-out: ADMIN_TOKEN once, then a session.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { isAdminToken } from "../../api/operations/operator-request.ts";
import { recordActions } from "../../commands/record-actions.ts";
import { isRefused } from "../../runtime/refused.ts";
import { field } from "../shell/form.ts";
import { html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { signInPlace } from "../shell/sessions.ts";
import { pathWithin, redirectTo } from "../shell/visit.ts";
import { type ConsoleDeps, operatorContext } from "./guard.ts";

const Query = z.object({ next: z.string().optional().catch(undefined) });
const Form = z.object({ token: z.string().max(1_000).default(""), next: z.string().optional() });

export function signInPages(app: Api, deps: ConsoleDeps): void {
  app.get("/sign-in", { schema: { querystring: Query } }, async (request, reply) => {
    const next = pathWithin("/admin", request.query.next);
    if (request.visit.operator) return reply.redirect(next, 303);
    return sendForm(reply, { next });
  });

  app.post("/sign-in", { schema: { body: Form } }, async (request, reply) => {
    const next = pathWithin("/admin", request.body.next);
    try {
      if (!(await isAdminToken(deps, request, request.body.token)))
        return sendForm(reply, {
          next,
          status: 401,
          failure: "That is not the ADMIN_TOKEN of this service.",
        });
    } catch (error) {
      if (!isRefused(error, "rate_limit_exceeded")) throw error;
      reply.header("retry-after", String(error.retryAfter));
      return sendForm(reply, { next, status: 429, failure: error.message });
    }
    await startSession(deps, request, reply);
    return reply.redirect(next, 303);
  });

  app.post("/sign-out", async (request, reply) => {
    const { operator, cookies } = request.visit;
    if (operator) await deps.operators.end(operator.sessionId);
    reply.clearCookie(cookies.operator, cookies.options);
    return redirectTo(reply, "/admin/sign-in", { kind: "info", text: "You are signed out." });
  });
}

/** Recorded first: there is no session that the log does not know of. The cookie ends with the browser. */
async function startSession(deps: ConsoleDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { cookies, operator } = request.visit;
  await recordActions(deps, operatorContext(request), [
    { type: "OperatorSignedIn", data: signInPlace(request) },
  ]);
  if (operator) await deps.operators.end(operator.sessionId);
  reply.setCookie(cookies.operator, await deps.operators.open(), { ...cookies.options, sameSite: "strict" });
}

type Given = { next: string; status?: number; failure?: string };

function sendForm(reply: FastifyReply, { next, status, failure }: Given): FastifyReply {
  return sendPage(reply, {
    title: "Console",
    shape: "narrow",
    status,
    notice: failure === undefined ? undefined : { kind: "failed", text: failure },
    body: html`<div class="card">
<h1>Console</h1>
<p class="muted">For operators and auditors of this service. What you do here is recorded.</p>
<form method="post" class="form" action="/admin/sign-in">
<input type="hidden" name="next" value="${next}">
${field({ label: "Admin token", name: "token", type: "password", autocomplete: "current-password", required: true, autofocus: true, hint: "The value of ADMIN_TOKEN" })}
<button class="button button-primary button-wide">Sign in</button>
</form>
</div>`,
  });
}
