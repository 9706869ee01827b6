// From an address by a mailed link to a password, as in sign-up and reset: the form that asks for the address, and the
// page behind the link, on which a password is chosen.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import type { Mail, Mailer } from "../../mail/mailer.ts";
import { type RefusedForm, shownAgain, typedText } from "../shell/form-route.ts";
import { type HtmlValue, html } from "../shell/html.ts";
import { hiddenFields } from "../shell/parts.ts";
import { emailField, newPasswordField, sendFormPage, sendLookInYourMail } from "./form-page.ts";
import { sendMail } from "./mails.ts";
import type { SignInDeps } from "./start-session.ts";
import { countByAddress, countMail } from "./throttle.ts";

/** Forms that are sent without a session, an hour and client address. */
export const FORMS_AN_HOUR = 20;

const EmailForm = z.object({ email: z.string().max(254).default("") });
const Token = z.object({ token: z.string().default("") });
const PasswordForm = Token.extend({ password: z.string().default("") });

type AddressForm = {
  path: "/sign-up" | "/reset";
  title: string;
  heading?: string;
  lead: string;
  below: HtmlValue;
  /** The address in the form that it is mailed to. @throws Refused */
  accept: (given: string) => string;
  /** Undefined: nothing is sent, which the answer doesn't tell. */
  mail: (email: string) => Promise<Mail | undefined>;
  /** What is said once the mail is on its way. */
  sent: (email: string) => HtmlValue;
};

/** The forms that ask for an address; the answer does not reveal which addresses have accounts. */
export function addressForm(app: Api, deps: SignInDeps & { mailer: Mailer }, form: AddressForm): void {
  const { path, accept, mail, sent, ...page } = form;
  const send = (reply: FastifyReply, refused?: RefusedForm) =>
    sendFormPage(reply, {
      ...{ ...page, fields: emailField(refused), button: "Send the link", refused },
      atFields: ["email"],
    });

  app.get(path, async (request, reply) => {
    if (path === "/sign-up" && request.visit.session) return reply.redirect("/portal", 303);
    return send(reply);
  });

  const errorHandler = shownAgain((refused, _request, reply) => send(reply, refused));
  app.post(path, { schema: { body: EmailForm }, errorHandler }, async (request, reply) => {
    await countByAddress(deps, request, path.slice(1), FORMS_AN_HOUR);
    const email = accept(request.body.email);
    await countMail(deps, email);
    sendMail(deps, () => mail(email));
    return sendLookInYourMail(reply, sent(email), `/portal${path}`);
  });
}

type PasswordLink = {
  path: "/sign-up/finish" | "/reset/choose";
  title: string;
  /** Beside the address. */
  about: string;
  button: string;
  /** Reads the link without consuming it. @throws link_expired */
  lookAt: (token: string) => Promise<{ email: string }>;
  /** Consumes the link once the password is accepted. @throws Refused */
  finish: (
    request: FastifyRequest,
    reply: FastifyReply,
    chosen: { token: string; email: string; password: string },
  ) => Promise<FastifyReply>;
};

export function passwordLink(app: Api, { path, lookAt, finish, ...page }: PasswordLink): void {
  const send = async (reply: FastifyReply, token: string, refused?: RefusedForm) => {
    const { email } = await lookAt(token);
    return sendFormPage(reply, {
      ...{ ...page, lead: `For ${email}.${page.about}`, action: `/portal${path}`, refused },
      fields: html`${hiddenFields({ token })}<input type="text" name="username" autocomplete="username" value="${email}" hidden>
${newPasswordField(refused)}`,
      atFields: ["password"],
    });
  };

  app.get(path, { schema: { querystring: Token } }, (request, reply) => send(reply, request.query.token));

  const errorHandler = shownAgain((refused, _request, reply) =>
    send(reply, typedText(refused.typed, "token"), refused),
  );
  app.post(path, { schema: { body: PasswordForm }, errorHandler }, async (request, reply) => {
    const { token, password } = request.body;
    const { email } = await lookAt(token);
    return await finish(request, reply, { token, email, password });
  });
}
