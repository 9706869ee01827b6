// Pages that are one narrow form, as those of people who aren't signed in: sign-in, sign-up, a new password.
import type { FastifyReply } from "fastify";
import { PASSWORD_MIN } from "../../commands/account/password.ts";
import { field } from "../shell/form.ts";
import { errorOf, noticeOf, type RefusedForm, typedText } from "../shell/form-route.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";

type FormPage = {
  title: string;
  /** On the page, where it isn't the title. */
  heading?: string;
  lead?: HtmlValue;
  /** The page's own address by default. */
  action?: string;
  fields: HtmlValue;
  button: string;
  below?: HtmlValue;
  /** Why the form was refused, shown beside one of `atFields` or above the form. */
  refused?: RefusedForm | undefined;
  atFields?: readonly string[];
};

export function sendFormPage(reply: FastifyReply, page: FormPage): FastifyReply {
  const { title, heading = title, lead, action, fields, button, below, refused, atFields = [] } = page;
  return sendPage(reply, {
    ...{ title, shape: "narrow", status: refused?.status },
    notice: refused && noticeOf(refused, ...atFields),
    body: html`<div class="card"><h1>${heading}</h1>
${lead && html`<p class="muted">${lead}</p>`}
<form method="post" class="form"${action && html` action="${action}"`}>${fields}
<button class="button button-primary button-wide">${button}</button></form>
${below && html`<p class="muted">${below}</p>`}</div>`,
  });
}

/** Says that a mail is on its way. `form`: path of the page that it was asked for on. */
export function sendLookInYourMail(reply: FastifyReply, text: HtmlValue, form: string): FastifyReply {
  return sendPage(reply, {
    title: "Look in your mail",
    shape: "narrow",
    body: html`<div class="card"><h1>Look in your mail</h1>
<p>${text}</p>
<p class="muted">Nothing there after a few minutes? Look among the unwanted mail, or <a href="${form}">try again</a>.</p></div>`,
  });
}

export function emailField(refused: RefusedForm | undefined): Html {
  return field({
    ...{ label: "E-mail address", name: "email", type: "email", autocomplete: "email" },
    ...{ required: true, maxlength: 254, autofocus: true },
    value: refused && typedText(refused.typed, "email"),
    error: errorOf(refused, "email"),
  });
}

export function newPasswordField(refused: RefusedForm | undefined): Html {
  return field({
    ...{ label: "Password", name: "password", type: "password", autocomplete: "new-password" },
    ...{ required: true, minlength: PASSWORD_MIN },
    hint: `At least ${PASSWORD_MIN} characters; a few words together are good.`,
    error: errorOf(refused, "password"),
  });
}
