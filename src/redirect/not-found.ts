// What a visitor or a program gets instead of a redirect.
import type { FastifyReply, FastifyRequest } from "fastify";
import { plainPage } from "./plain-page.ts";

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
    return reply
      .type("text/html; charset=utf-8")
      .send(plainPage(error, "Please check the address for typing errors."));
  }
  return reply
    .type("application/json; charset=utf-8")
    .send(JSON.stringify({ error, code, request_id: request.id }));
}
