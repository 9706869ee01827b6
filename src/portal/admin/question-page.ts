// A question as a page: its head, a form of its arguments, the answer, and the way to the next page.
import type { FastifyReply } from "fastify";
import type { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { httpErrorOf } from "../../api/http-errors.ts";
import { type Asked, partly, type Question } from "../../queries/audit/questions.ts";
import { address } from "../shell/address.ts";
import { type Field, hiddenFields, inputs } from "../shell/controls.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import type { Cards } from "../shell/layout.ts";
import { type ConsoleName, sendPage } from "../shell/page.ts";
import type { Notice } from "../shell/request-visit.ts";
import type { ConsoleDeps } from "./access.ts";

type Page = Omit<Parameters<typeof sendPage>[1], "title" | "nav">;
/** `title`: by default the name in the navigation. `isLive`: what is marked with `data-live` is loaded again by a script. */
type ConsolePage = Page & { nav: ConsoleName; title?: string; isLive?: boolean };

type QuestionPage<Args, Answer> = Omit<ConsolePage, "cards"> & {
  /** The button of the form, below which a refusal is shown too. Without it the page has no form, and a refusal is a page. */
  find?: string;
  /** Words of the way to the next page. */
  more?: string;
  /**
   * Cards, alone or with what else of the page depends on the answer, or the address of the page that has it. `answer`: undefined
   * where the question was refused, or not asked yet.
   */
  show(answer: Answer | undefined, args: Args): Shown | Promise<Shown>;
};
type Shown = string | Cards | (Partial<ConsolePage> & { cards: Cards });

export function sendConsolePage(reply: FastifyReply, { isLive, ...page }: ConsolePage): FastifyReply {
  return sendPage(reply, { title: page.nav, scripts: isLive ? ["live.js"] : [], ...page });
}

export function questionPage<Args extends z.ZodObject, Answer extends object>(
  app: Api,
  deps: ConsoleDeps,
  path: string,
  { args, answer, next }: Question<ConsoleDeps, Args, Answer>,
  { find, more = "Older", show, ...page }: QuestionPage<z.infer<Args>, Answer>,
): void {
  const to = `/admin${path}`;
  const querystring = find === undefined ? args : partly(args);
  app.get(path, { schema: { querystring } }, async (request, reply) => {
    const asked = request.query as z.infer<Args>;
    const isAsked = find === undefined || args.safeParse(request.query).success;
    const answering = isAsked ? answer(deps, asked) : undefined;
    const { answer: result, notice } = await (find === undefined
      ? { answer: await answering, notice: undefined }
      : orRefusal(Promise.resolve(answering)));
    const shown = await show(result, asked);
    if (typeof shown === "string") return reply.redirect(shown, 303);
    const { cards, ...of } = "cards" in shown ? shown : { cards: shown };
    // Also what the answer knows better, such as the hour that was searched.
    const refined = Object.entries(result ?? {}).filter(
      ([name, value]) => name in args.shape && value !== null,
    );
    const values: Record<string, unknown> = { ...asked, ...Object.fromEntries(refined) };
    const { next: position = null } = (result ?? {}) as { next?: string | number | null };
    const behind = { ...(values as Record<string, string>), limit: undefined, [next ?? ""]: position };
    return sendConsolePage(reply, {
      ...page,
      ...of,
      notice,
      cards: [
        find !== undefined && questionForm(to, args, values, find),
        ...cards,
        position !== null &&
          html`<nav class="actions" aria-label="Pages"><a class="button" rel="next" href="${address(to, behind)}">${more}</a></nav>`,
      ],
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
  action: string,
  { shape }: z.ZodObject,
  asked: Readonly<Record<string, unknown>>,
  find: string,
): Html {
  const hidden: Record<string, string> = {};
  const values: Record<string, string> = {};
  const fields: Record<string, Field> = {};
  for (const [name, schema] of Object.entries(shape)) {
    const { label, about, example, oneOf } = ((schema as z.ZodType).meta() ?? {}) as Asked;
    const value = String(asked[name] ?? "");
    if (label === undefined && about === undefined && value !== "") hidden[name] = value;
    if (label === undefined) continue;
    const options = oneOf && [["", "All"] as const, ...oneOf.map((value) => [value, value] as const)];
    fields[name] = options
      ? { label, options }
      : { label, type: "search", placeholder: example, autocomplete: "off" };
    values[name] = value;
  }
  const isOne = Object.keys(fields).length === 1;
  const clear = !isOne && html`<a class="button" href="${address(action, hidden)}">Clear</a>`;
  const drawn = html`<form method="get" action="${action}" class="form-row" role="search">${hiddenFields(hidden)}${inputs(fields, values)}
<div class="actions"><button class="button button-primary">${icon("search")}${find}</button>${clear}</div></form>`;
  return isOne ? drawn : html`<div class="card">${drawn}</div>`;
}
