// Forms of people who aren't signed in, each on a narrow page of its own: an address, a link mailed to it, a password.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import type { Mail, Mailer } from "../../commands/mail/mailer.ts";
import { PASSWORD_MIN } from "../../commands/people/password.ts";
import { byAddress, countMail, countTry } from "../../limits/rate-limit.ts";
import { type Fields, usernameField } from "../shell/controls.ts";
import { shownAgain } from "../shell/form-route.ts";
import { type HtmlValue, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { type RefusedForm, typedText } from "../shell/refused-form.ts";
import { sendMail } from "./mails.ts";
import type { SignInDeps } from "./start-session.ts";

/** Forms that are sent without a session, an hour and client address. */
const FORMS_AN_HOUR = 20;

const Typed = z.object({ email: z.string().default(""), password: z.string().default("") });
const Token = z.object({ token: z.string().default("") });
const TokenForm = Token.extend({ password: z.string().default("") });

export const EMAIL_FIELD = {
  email: {
    label: "E-mail address",
    type: "email",
    autocomplete: "email",
    required: true,
    maxlength: 254,
    autofocus: true,
  },
} satisfies Fields;

export const NEW_PASSWORD_FIELD = {
  password: {
    label: "Password",
    type: "password",
    autocomplete: "new-password",
    required: true,
    minlength: PASSWORD_MIN,
    hint: `At least ${PASSWORD_MIN} characters; a few words together are good.`,
  },
} satisfies Fields;

type OpenForm = {
  path: "/sign-up" | "/reset";
  title: string;
  /** On the page, where it isn't the title. */
  heading?: string;
  lead: HtmlValue;
  fields: Fields;
  button: string;
  below: HtmlValue;
  run: (typed: z.infer<typeof Typed>, reply: FastifyReply) => Promise<FastifyReply>;
};

/** A page with a form that anybody may send, so many an hour. */
export function openForm(app: Api, deps: SignInDeps, form: OpenForm): void {
  const { path, title, heading = title, lead, fields, button, below, run } = form;
  const action = `/portal${path}`;
  const send = (reply: FastifyReply, refused?: RefusedForm) =>
    sendPage(reply, {
      title,
      shape: "narrow",
      refused,
      cards: [
        {
          title: heading,
          lead,
          form: { action, fields, button, buttonKind: "primary" },
          below: html`<p class="muted">${below}</p>`,
        },
      ],
    });
  app.get(path, async (request, reply) =>
    path === "/sign-up" && request.visit.session ? reply.redirect("/portal", 303) : send(reply),
  );
  const errorHandler = shownAgain(send);
  app.post(path, { schema: { body: Typed }, errorHandler }, async (request, reply) => {
    await countForm(deps, path, request);
    return await run(request.body, reply);
  });
}

type AddressForm = Omit<OpenForm, "fields" | "button" | "run"> & {
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
    fields: EMAIL_FIELD,
    button: "Send the link",
    run: async (typed, reply) => {
      const email = accept(typed.email);
      await countMail(deps, email);
      sendMail(deps, () => compose(email));
      const title = "Look in your mail";
      const body = html`<p>${sent(email)}</p>
<p class="muted">Nothing there after a few minutes? Look among the unwanted mail, or <a href="/portal${form.path}">try again</a>.</p>`;
      return sendPage(reply, { title, shape: "narrow", cards: [{ title, body }] });
    },
  });
}

type TokenPage = {
  path: "/sign-up/finish" | "/reset/choose" | "/sign-in/link" | "/profile/email/confirm";
  title: string;
  /** `email`: of the link. */
  lead: (email: string) => HtmlValue;
  button: string;
  /** Whether a password is chosen there. */
  asksPassword: boolean;
  /** Reads the link without consuming it. @throws token_expired */
  lookAt: (token: string) => Promise<{ email: string }>;
  /** Consumes the link, once what was typed is accepted. @throws Refused */
  use: (typed: z.infer<typeof TokenForm>, reply: FastifyReply) => Promise<FastifyReply>;
};

/** The page behind a link that was mailed or handed over: looking at it, as programs that check mails do, spends nothing. */
export function tokenPage(
  app: Api,
  { path, title, lead, button, asksPassword, lookAt, use }: TokenPage,
): void {
  const send = async (reply: FastifyReply, token: string, refused?: RefusedForm) => {
    const { email } = await lookAt(token);
    const fields = asksPassword ? NEW_PASSWORD_FIELD : {};
    const more = asksPassword && usernameField(email);
    const form = { action: `/portal${path}`, hidden: { token }, fields, more, button } as const;
    return sendPage(reply, {
      title,
      shape: "narrow",
      refused,
      cards: [{ title, lead: lead(email), form: { ...form, buttonKind: "primary" } }],
    });
  };
  app.get(path, { schema: { querystring: Token } }, (request, reply) => send(reply, request.query.token));
  const errorHandler = shownAgain((reply, refused) =>
    send(reply, typedText(refused.typed, "token"), refused),
  );
  app.post(path, { schema: { body: TokenForm }, errorHandler }, (request, reply) => use(request.body, reply));
}

/** By client address. @throws rate_limit_exceeded */
export async function countForm(
  deps: SignInDeps,
  path: OpenForm["path"],
  { ip }: FastifyRequest,
): Promise<void> {
  await countTry(deps, byAddress(path.slice(1), ip), FORMS_AN_HOUR);
}
