// Shows errors of the portal as pages; status and message come from api/http-errors.ts.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Api } from "../../api/fastify.ts";
import { type HttpError, reported, sendError } from "../../api/http-errors.ts";
import { isRefused } from "../../commands/refusals.ts";
import { html } from "./html.ts";
import { sendPage } from "./page.ts";
import { ACCOUNTS_PATH } from "./sessions.ts";

export function errorPages(site: Api): void {
  site.setErrorHandler((error, request, reply) => sendErrorPage(error, request, reply));
}

/**
 * Shows an error as a page, or as JSON to who wants no page. `again`: shows the form that was refused instead, unless it
 * fails as well, another site sent it, which must not fill in a form of ours, or its sender may not see it.
 */
export async function sendErrorPage(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  again?: (httpError: HttpError) => FastifyReply | Promise<FastifyReply>,
): Promise<FastifyReply> {
  if (!isForPeople(request)) return sendError(error, request, reply);
  const httpError = reported(error, request, reply);
  try {
    if (again && !isRefused(error, "form_refused") && !isRefused(error, "not_permitted"))
      return await again(httpError);
  } catch {
    // What went wrong first is shown.
  }
  return errorPage(httpError, request, reply);
}

function errorPage(httpError: HttpError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { visit } = request;
  const [title, advice] = WORDS[httpError.status] ?? [OURS, httpError.status < 500 ? "" : TRY_LATER];
  const [start, startName] = visit.operator
    ? ["/admin", "Go to the console's overview"]
    : visit.session
      ? ["/portal", "Go to your dashboard"]
      : visit.person
        ? [ACCOUNTS_PATH, "Go to your accounts"]
        : ["/", "Go to the first page"];
  return sendPage(reply, {
    title,
    shape: "narrow",
    status: httpError.status,
    body: html`<div class="card empty">
<p class="lead">${httpError.status}</p>
<h1>${title}</h1>
<p>${httpError.message && `${httpError.message.replace(/[.]$/, "")}.`} ${advice}</p>
<p class="muted">Request id: ${request.id}</p>
<p><a class="button button-primary" href="${start}">${startName}</a></p>
</div>`,
  });
}

/** Not clients that don't accept HTML, and not requests refused before visitHook ran, such as those for another host. */
export function isForPeople({ visit, headers }: FastifyRequest): boolean {
  return Boolean(visit as typeof visit | undefined) && headers.accept?.includes("text/html") === true;
}

const CORRECT = "Go back, correct it and send it again.";
const OURS = "Something went wrong on our side";
const TRY_LATER =
  "The error is in our log. Try again in a moment; if it happens again, give the operator the request id below.";

/** What happened, and what to do beside what the message says, as those of limits say when to try again. */
const WORDS: Readonly<Record<number, readonly [title: string, advice: string]>> = {
  400: ["This request is not valid", CORRECT],
  401: ["Please sign in", ""],
  402: ["This needs the Developer plan", ""],
  403: ["This is not allowed", ""],
  404: ["There is nothing here", "Check the address, or begin on the first page."],
  409: ["This can't be done as things are now", "Go back, reload the page and see how it stands."],
  422: ["This request is not valid", CORRECT],
  429: ["Too many requests", ""],
  503: ["The service is not available just now", "Reload the page in a moment."],
};
