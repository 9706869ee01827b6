// A question as a page: its head, a form of its arguments, the answer, and the way to the next page.
import type { FastifyReply } from "fastify";
import type { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { httpErrorOf } from "../../api/http-errors.ts";
import { type Asked, partly, type Question } from "../../queries/audit/questions.ts";
import { address } from "../shell/address.ts";
import { field, hiddenFields } from "../shell/form.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { type ConsoleName, sendPage } from "../shell/page.ts";
import { pageHead } from "../shell/parts.ts";
import type { Notice } from "../shell/visit.ts";
import type { ConsoleDeps } from "./access.ts";

type ConsolePage = {
  nav: ConsoleName;
  title: string;
  /** By default the title. */
  heading?: HtmlValue;
  above?: HtmlValue;
  lead?: HtmlValue;
  actions?: HtmlValue;
  body: HtmlValue;
  /** What is marked with `data-live` is loaded again by a script. */
  isLive?: boolean;
  notice?: Notice | undefined;
};

type Shown = ConsolePage | string;

type QuestionPage<Args, Answer> = {
  /** The button of the form, below which a refusal is shown too. Without it the page has no form, and a refusal is a page. */
  find?: string;
  /** Words of the way to the next page. */
  more?: string;
  /** `answer`: undefined where the question was refused, or not asked yet. A text is the address of the page that has the answer. */
  show(answer: Answer | undefined, args: Args): Shown | Promise<Shown>;
};

export function sendConsolePage(reply: FastifyReply, page: ConsolePage): FastifyReply {
  const { nav, title, heading = title, body, isLive, notice, ...head } = page;
  return sendPage(reply, {
    nav,
    title,
    notice,
    scripts: isLive ? ["live.js"] : [],
    body: html`${pageHead(heading, head)}\n${body}`,
  });
}

export function questionPage<Args extends z.ZodObject, Answer extends object>(
  app: Api,
  deps: ConsoleDeps,
  path: string,
  { args, answer, next }: Question<ConsoleDeps, Args, Answer>,
  { find, more = "Older", show }: QuestionPage<z.infer<Args>, Answer>,
): void {
  const querystring = find === undefined ? args : partly(args);
  app.get(path, { schema: { querystring } }, async (request, reply) => {
    const asked = request.query as z.infer<Args>;
    const answering = () => answer(deps, asked);
    const isAsked = args.safeParse(request.query).success;
    const { answer: found, notice }: { answer?: Answer; notice?: Notice } =
      find === undefined ? { answer: await answering() } : isAsked ? await orRefusal(answering()) : {};
    const page = await show(found, asked);
    if (typeof page === "string") return reply.redirect(page, 303);
    const values: Record<string, unknown> = { ...asked };
    // Such as the hour that was searched.
    for (const [name, value] of Object.entries(found ?? {}))
      if (name in args.shape && value !== null) values[name] = value;
    const to = `/admin${path}`;
    const { next: position = null } = (found ?? {}) as { next?: string | number | null };
    const behind = { ...(values as Record<string, string>), limit: undefined, [next ?? ""]: position };
    return sendConsolePage(reply, {
      ...page,
      notice,
      body: html`${find && questionForm(to, args, values, find)}
${page.body}
${position !== null && html`<nav class="actions" aria-label="Pages"><a class="button" rel="next" href="${address(to, behind)}">${more}</a></nav>`}`,
    });
  });
}

/** A refusal is told where it was asked for; errors of the service have a page of their own. */
export async function orRefusal<T>(work: Promise<T>): Promise<{ answer?: T; notice?: Notice }> {
  try {
    return { answer: await work };
  } catch (error) {
    const { status, message } = httpErrorOf(error);
    if (status >= 500) throw error;
    return { notice: { kind: "failed", text: message.replace(/[^.]$/, "$&.") } };
  }
}

/** A field for each argument with a label; those that no field and no option asks for are kept. */
function questionForm(
  path: string,
  { shape }: z.ZodObject,
  values: Readonly<Record<string, unknown>>,
  find: string,
): Html {
  const kept: Record<string, string> = {};
  const fields: Html[] = [];
  for (const [name, schema] of Object.entries(shape)) {
    const { label, about, example, oneOf } = ((schema as z.ZodType).meta() ?? {}) as Asked;
    const value = String(values[name] ?? "");
    if (label === undefined) {
      if (about === undefined && value !== "") kept[name] = value;
    } else if (oneOf) {
      const options = [["", "All"], ...oneOf.map((value) => [value, value] as const)] as const;
      fields.push(field({ name, label, value, options }));
    } else
      fields.push(field({ name, label, value, type: "search", placeholder: example, autocomplete: "off" }));
  }
  const isOne = fields.length === 1;
  return html`<form method="get" action="${path}" class="${isOne ? "form-row filters" : "card console-filters"}" role="search">
${hiddenFields(kept)}${fields}
<div class="actions"><button class="button button-primary">${icon("search")}${find}</button>${!isOne && html`<a class="button" href="${address(path, kept)}">Clear</a>`}</div></form>`;
}
