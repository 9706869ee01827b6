// Shows errors of the portal as pages; status and message come from api/http-errors.ts.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Api } from "../../api/fastify.ts";
import { httpErrorOf, sendError } from "../../api/http-errors.ts";
import { html } from "./html.ts";
import { sendPage } from "./page.ts";

export function errorPages(site: Api): void {
  site.setErrorHandler((error, request, reply) => sendErrorPage(error, request, reply));
}

function sendErrorPage(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const visit = request.visit as typeof request.visit | undefined;
  // JSON for clients that don't accept HTML, and for requests refused before visitHook ran, such as those for another host.
  if (!visit || !request.headers.accept?.includes("text/html")) return sendError(error, request, reply);
  const known = httpErrorOf(error);
  if (known.status >= 500) request.log.error({ err: error, code: known.code }, "request failed");
  if (known.retryAfter !== undefined) reply.header("retry-after", String(known.retryAfter));
  const title = TITLES[known.status] ?? "Something went wrong on our side";
  return sendPage(reply, {
    title,
    shape: "narrow",
    status: known.status,
    body: html`<div class="card empty">
<p class="empty-number">${known.status}</p>
<h1>${title}</h1>
<p>${known.message || "It is in our log. Please try again in a moment."}</p>
<p class="muted">Request ${request.id}</p>
<p><a class="button button-primary" href="${visit.operator ? "/admin" : visit.session ? "/portal" : "/"}">Go to the start</a></p>
</div>`,
  });
}

const TITLES: Readonly<Record<number, string>> = {
  400: "That didn't work",
  401: "Please sign in",
  402: "This needs the Developer plan",
  403: "This is not allowed",
  404: "There is nothing here",
  409: "That is not possible as things are",
  422: "That didn't work",
  429: "That was too much at once",
  503: "Not available just now",
};
