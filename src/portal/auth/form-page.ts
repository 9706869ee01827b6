// Forms of people who aren't signed in, each on a narrow page of its own: an address, a link mailed to it, a password.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import type { Mail, Mailer } from "../../commands/mail/mailer.ts";
import { PASSWORD_MIN } from "../../commands/people/password.ts";
import { byAddress, countMail, countTry } from "../../limits/rate-limit.ts";
import { field, hiddenFields } from "../shell/controls.ts";
import { shownAgain } from "../shell/form-route.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { errorOf, noticeOf, type RefusedForm, typedText } from "../shell/refused-form.ts";
import { sendMail } from "./mails.ts";
import type { SignInDeps } from "./start-session.ts";

/** Forms that are sent without a session, an hour and client address. */
const FORMS_AN_HOUR = 20;

const Typed = z.object({ email: z.string().default(""), password: z.string().default("") });
const Token = z.object({ token: z.string().default("") });
const PasswordForm = Token.extend({ password: z.string().default("") });

type FormPage = {
  title: string;
  /** On the page, where it isn't the title. */
  heading?: string;
  lead?: HtmlValue;
  /** The page's own address by default. */
  action?: string;
  /** False: no form, but the `others`. */
  fields: HtmlValue;
  button: string;
  /** Forms and links to the same end, below it. */
  others?: HtmlValue;
  below?: HtmlValue;
  scripts?: readonly string[];
  /** Why the form was refused, shown beside one of `atFields` or above the form. */
  refused?: RefusedForm | undefined;
  atFields?: readonly string[];
};

export function sendFormPage(reply: FastifyReply, page: FormPage): FastifyReply {
  const {
    title,
    heading = title,
    lead,
    action,
    fields,
    button,
    others,
    below,
    refused,
    atFields = [],
  } = page;
  const form = html`<form method="post" class="form"${action && html` action="${action}"`}>${fields}
<button class="button button-primary">${button}</button></form>`;
  return sendPage(reply, {
    title,
    scripts: page.scripts,
    shape: "narrow",
    status: refused?.status,
    notice: refused && noticeOf(refused, ...atFields),
    body: html`<div class="card"><h1>${heading}</h1>
${lead && html`<p class="muted">${lead}</p>`}
${fields && form}
${others}
${below && html`<p class="muted">${below}</p>`}</div>`,
  });
}

type OpenForm = Omit<FormPage, "fields" | "refused"> & {
  path: "/sign-up" | "/reset";
  fields: (refused: RefusedForm | undefined) => HtmlValue;
  run: (typed: z.infer<typeof Typed>, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
};

/** A page with a form that anybody may send, so many an hour. */
export function openForm(app: Api, deps: SignInDeps, { path, fields, run, ...page }: OpenForm): void {
  const send = (reply: FastifyReply, refused?: RefusedForm) =>
    sendFormPage(reply, { ...page, fields: fields(refused), refused });
  app.get(path, async (request, reply) =>
    path === "/sign-up" && request.visit.session ? reply.redirect("/portal", 303) : send(reply),
  );
  const errorHandler = shownAgain((refused, _request, reply) => send(reply, refused));
  app.post(path, { schema: { body: Typed }, errorHandler }, async (request, reply) => {
    await countForm(deps, path, request);
    return await run(request.body, request, reply);
  });
}

type AddressForm = Omit<OpenForm, "fields" | "button" | "atFields" | "run"> & {
  /** The address in the form that it is mailed to. @throws Refused */
  accept: (typed: string) => string;
  /** Undefined: nothing is sent, which the answer doesn't tell. */
  compose: (email: string) => Promise<Mail | undefined>;
  /** What is said once the mail is on its way. */
  sent: (email: string) => HtmlValue;
};

/** A form that asks for an address; the answer does not reveal which addresses have accounts. */
export function addressForm(app: Api, deps: SignInDeps & { mailer: Mailer }, form: AddressForm): void {
  const { accept, compose, sent, ...page } = form;
  openForm(app, deps, {
    ...page,
    fields: emailField,
    button: "Send the link",
    atFields: ["email"],
    run: async (typed, _request, reply) => {
      const email = accept(typed.email);
      await countMail(deps, email);
      sendMail(deps, () => compose(email));
      return sendPage(reply, {
        title: "Look in your mail",
        shape: "narrow",
        body: html`<div class="card"><h1>Look in your mail</h1>
<p>${sent(email)}</p>
<p class="muted">Nothing there after a few minutes? Look among the unwanted mail, or <a href="/portal${form.path}">try again</a>.</p></div>`,
      });
    },
  });
}

type PasswordLink = {
  path: "/sign-up/finish" | "/reset/choose";
  title: string;
  /** Beside the address. */
  about: string;
  button: string;
  /** Reads the link without consuming it. @throws token_expired */
  lookAt: (token: string) => Promise<{ email: string }>;
  /** Consumes the link once the password is accepted. @throws Refused */
  finish: (
    request: FastifyRequest,
    reply: FastifyReply,
    chosen: { token: string; email: string; password: string },
  ) => Promise<FastifyReply>;
};

/** The page behind a mailed link, on which a password is chosen. */
export function passwordLink(app: Api, { path, about, lookAt, finish, ...page }: PasswordLink): void {
  const send = async (reply: FastifyReply, token: string, refused?: RefusedForm) => {
    const { email } = await lookAt(token);
    return sendFormPage(reply, {
      ...page,
      lead: `For ${email}.${about}`,
      action: `/portal${path}`,
      refused,
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
    const { email } = await lookAt(request.body.token);
    return await finish(request, reply, { ...request.body, email });
  });
}

/** By client address. @throws rate_limit_exceeded */
export async function countForm(
  deps: SignInDeps,
  path: OpenForm["path"],
  { ip }: FastifyRequest,
): Promise<void> {
  await countTry(deps, byAddress(path.slice(1), ip), FORMS_AN_HOUR);
}

export function emailField(refused: RefusedForm | undefined): Html {
  return field({
    label: "E-mail address",
    name: "email",
    type: "email",
    autocomplete: "email",
    required: true,
    maxlength: 254,
    autofocus: true,
    value: refused && typedText(refused.typed, "email"),
    error: errorOf(refused, "email"),
  });
}

export function newPasswordField(refused: RefusedForm | undefined): Html {
  return field({
    label: "Password",
    name: "password",
    type: "password",
    autocomplete: "new-password",
    required: true,
    minlength: PASSWORD_MIN,
    hint: `At least ${PASSWORD_MIN} characters; a few words together are good.`,
    error: errorOf(refused, "password"),
  });
}
