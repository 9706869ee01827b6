// Shows errors of the portal as pages; status and message come from api/http-errors.ts.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Api } from "../../api/fastify.ts";
import { type HttpError, httpErrorOf, sendError } from "../../api/http-errors.ts";
import { isRefused } from "../../runtime/refused.ts";
import { html } from "./html.ts";
import { sendPage } from "./page.ts";

const OUR_FAULT = "It is in our log. Please try again in a moment.";

export function errorPages(site: Api): void {
  site.setErrorHandler((error, request, reply) => sendErrorPage(error, request, reply));
}

/** A form that was refused. `typed`: its fields as they were sent; none of a form that was too large to be read. */
export type RefusedForm = {
  error: unknown;
  status: number;
  message: string;
  typed: Readonly<Record<string, unknown>>;
};

type FormPage = {
  /** Shows the form again, with what was typed. */
  show: (refused: RefusedForm, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  /** Where the form is, for those who have to sign in again. */
  path: (request: FastifyRequest, typed: RefusedForm["typed"]) => string;
};

/** Options of a form's route: what was typed is kept, whyever it is refused, and while its sender signs in again. */
export function keptForm({ show, path }: FormPage) {
  const typedIn = ({ body }: FastifyRequest) => (body ?? {}) as RefusedForm["typed"];
  const signIn = (request: FastifyRequest, reply: FastifyReply) =>
    reply.redirect(`/portal/sign-in?next=${encodeURIComponent(path(request, typedIn(request)))}`, 303);

  const preHandler = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!request.visit.session) await signIn(request, reply);
  };
  const errorHandler = async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    // Another site must not fill in a form of ours.
    if (!isForPeople(request) || isRefused(error, "form_refused"))
      return sendErrorPage(error, request, reply);
    if (!request.visit.session) return signIn(request, reply);
    const known = prepared(error, request, reply);
    const { status, message } = known;
    try {
      const refused = { error, status, message: message || OUR_FAULT, typed: typedIn(request) };
      return await show(refused, request, reply);
    } catch {
      return errorPage(known, request, reply);
    }
  };
  return { preHandler, errorHandler };
}

function sendErrorPage(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!isForPeople(request)) return sendError(error, request, reply);
  return errorPage(prepared(error, request, reply), request, reply);
}

function errorPage(known: HttpError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { visit } = request;
  const title = TITLES[known.status] ?? "Something went wrong on our side";
  const [start, startName] = visit.operator
    ? ["/admin", "Go to the console's overview"]
    : visit.session
      ? ["/portal", "Go to your dashboard"]
      : ["/", "Go to the first page"];
  return sendPage(reply, {
    title,
    shape: "narrow",
    status: known.status,
    body: html`<div class="card empty">
<p class="empty-number">${known.status}</p>
<h1>${title}</h1>
<p>${known.message && `${known.message.replace(/[.]$/, "")}.`} ${whatToDo(known)}</p>
<p class="muted">Request id: ${request.id}</p>
<p><a class="button button-primary" href="${start}">${startName}</a></p>
</div>`,
  });
}

/** Not clients that don't accept HTML, and not requests refused before visitHook ran, such as those for another host. */
function isForPeople({ visit, headers }: FastifyRequest): boolean {
  return Boolean(visit as typeof visit | undefined) && headers.accept?.includes("text/html") === true;
}

/** Logs what is our fault, and says when to try again. */
function prepared(error: unknown, request: FastifyRequest, reply: FastifyReply): HttpError {
  const known = httpErrorOf(error);
  if (known.status >= 500) request.log.error({ err: error, code: known.code }, "request failed");
  if (known.retryAfter !== undefined) reply.header("retry-after", String(known.retryAfter));
  return known;
}

/** What happened. */
const TITLES: Readonly<Record<number, string>> = {
  400: "This request is not valid",
  401: "Please sign in",
  402: "This needs the Developer plan",
  403: "This is not allowed",
  404: "There is nothing here",
  409: "This can't be done as things are now",
  422: "This request is not valid",
  429: "Too many requests",
  503: "The service is not available just now",
};

/** Beside what the message says, as those of limits say when to try again. */
function whatToDo({ status }: HttpError): string {
  switch (status) {
    case 400:
    case 422:
      return "Go back, correct it and send it again.";
    case 404:
      return "Check the address, or begin on the first page.";
    case 409:
      return "Go back, reload the page and see how it stands.";
    case 503:
      return "Reload the page in a moment.";
    default:
      return status < 500
        ? ""
        : "The error is in our log. Try again in a moment; if it happens again, give the operator the request id below.";
  }
}
