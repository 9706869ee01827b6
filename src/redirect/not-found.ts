// What a visitor or a program gets instead of a redirect.
import type { FastifyReply, FastifyRequest } from "fastify";

const RETRY_AFTER_SECONDS = 1;

export function answerNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // A link made a moment later must not be hidden by a cached answer.
  reply.code(404).header("cache-control", "no-store");
  return say(request, reply, "Short link not found", "link_not_found");
}

/** 503: a store or the recorder is away for now. */
export function answerUnavailable(request: FastifyRequest, reply: FastifyReply, code: string): FastifyReply {
  reply.code(503).header("cache-control", "no-store").header("retry-after", String(RETRY_AFTER_SECONDS));
  return say(request, reply, "The short link cannot be followed just now; please try again", code);
}

function say(request: FastifyRequest, reply: FastifyReply, error: string, code: string): FastifyReply {
  if (request.headers.accept?.includes("text/html")) {
    return reply.type("text/html; charset=utf-8").send(page(error));
  }
  return reply
    .type("application/json; charset=utf-8")
    .send(JSON.stringify({ error, code, request_id: request.id }));
}

function page(text: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${text}</title>
<style>
  :root { color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif }
  body { display: grid; min-height: 90vh; margin: 1rem; place-content: center; text-align: center }
</style>
<h1>${text}</h1>
<p>Please check the address for typing errors.</p>
</html>
`;
}
