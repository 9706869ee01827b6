// GET and POST /portal/sign-in, POST /portal/sign-out.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { checkCredentials } from "../../commands/people/password.ts";
import { field, hiddenFields } from "../shell/form.ts";
import { shownAgain } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { type RefusedForm, typedText } from "../shell/refused-form.ts";
import { ACCOUNTS_PATH } from "../shell/sessions.ts";
import { pathWithin, redirectTo } from "../shell/visit.ts";
import { sendFormPage } from "./form-page.ts";
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
    if (request.visit.person)
      return reply.redirect(next.startsWith("/portal/invitation") ? next : ACCOUNTS_PATH, 303);
    return sendForm(reply, next);
  });

  const errorHandler = shownAgain((refused, _request, reply) =>
    sendForm(reply, pathWithin("/portal", typedText(refused.typed, "next")), refused),
  );
  app.post("/sign-in", { schema: { body: Form }, errorHandler }, async (request, reply) => {
    const { email, password, next } = request.body;
    const device = await deps.devices.recognise(request, email);
    await countSignIn(deps, request, email, device);
    const hash = device ? deps.passwordWork.known : deps.passwordWork.unknown;
    const proven = await hash(() => checkCredentials(deps, { email, password }));
    await startSession(deps, request, reply, proven);
    return reply.redirect(pathWithin("/portal", next), 303);
  });

  app.post("/sign-out", async (request, reply) => {
    await endSession(deps, request, reply);
    return redirectTo(reply, "/portal/sign-in", { kind: "info", text: "You are signed out." });
  });
}

function sendForm(reply: FastifyReply, next: string, refused?: RefusedForm): FastifyReply {
  const email = field({
    label: "E-mail address",
    name: "email",
    type: "email",
    autocomplete: "username",
    required: true,
    autofocus: !refused,
    value: refused && typedText(refused.typed, "email"),
  });
  const password = field({
    label: "Password",
    name: "password",
    type: "password",
    autocomplete: "current-password",
    required: true,
    autofocus: refused !== undefined,
  });
  return sendFormPage(reply, {
    title: "Sign in",
    action: "/portal/sign-in",
    button: "Sign in",
    refused,
    fields: html`${hiddenFields({ next })}${email}${password}`,
    below: html`${reply.request.visit.isSignUpOpen && html`New here? <a href="/portal/sign-up">Create an account</a> · `}<a href="/portal/reset">Lost your password?</a>`,
  });
}
