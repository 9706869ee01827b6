// Fastify with the service's limits and error object, also for errors that Fastify or Node answers before routing.
import { createServer } from "node:http";
import type { Socket } from "node:net";
import Fastify, {
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from "fastify";
import { validatorCompiler } from "fastify-type-provider-zod";
import type { HandleRequest } from "../redirect/http/redirect-handler.ts";
import type { Trust } from "../redirect/http/requester.ts";
import type { Logger } from "../runtime/logging.ts";
import { InvalidRequest } from "./errors.ts";
import type { Api } from "./fastify.ts";
import { sendError } from "./http-errors.ts";
import type { RequestIdOf } from "./request-id.ts";

/** Enough for a bulk request: 100 links of 2,048 characters. */
const BODY_LIMIT_BYTES = 1_048_576;
/** Longer than any slug, so that an overlong one gets the route's error instead of the router's. */
const MAX_PARAM_LENGTH = 2_048;
const REQUEST_TIMEOUT_MS = 30_000;
const CONNECTION_TIMEOUT_MS = 60_000;
/** Above Fastify's default, because starting on a busy machine can be slow. */
const START_TIMEOUT_MS = 60_000;

export type FastifyDeps = {
  log: Logger;
  trust: false | Trust;
  /** Adds rate limit headers to errors of URLs that can't be parsed, for which no hook runs. */
  showWindow: ((request: FastifyRequest, reply: FastifyReply) => Promise<void>) | undefined;
  /** Gets each request before Fastify; true when it answers the request. */
  redirect?: HandleRequest | undefined;
  requestIdOf: RequestIdOf;
};

export function createFastify(deps: FastifyDeps): Api {
  const app = Fastify({
    loggerInstance: deps.log,
    requestIdHeader: false,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    genReqId: deps.requestIdOf,
    trustProxy: deps.trust,
    ...(deps.redirect && { serverFactory: serverWith(deps.redirect) }),
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    pluginTimeout: START_TIMEOUT_MS,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    forceCloseConnections: "idle",
    frameworkErrors: (error, request, reply) => {
      const [received, answer] = [request as FastifyRequest, reply as unknown as FastifyReply];
      answer.header("x-request-id", received.id);
      const shown = isUnderApi(received.url) ? deps.showWindow?.(received, answer) : undefined;
      void Promise.resolve(shown)
        .catch(() => undefined)
        .then(() => sendError(error, received, answer));
    },
    clientErrorHandler: refuseConnection,
  }) as unknown as Api;
  app.setValidatorCompiler(validatorCompiler);
  // Response schemas serve OpenAPI and the type checker only; zod's serializer would drop keys that they don't list.
  app.setSerializerCompiler(() => JSON.stringify);
  app.setErrorHandler(sendError);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done();
  });
  acceptJsonOnly(app);
  return app;
}

/** Fastify's own server with `redirect` in front of it; while the server closes, Fastify gets all requests and refuses them. */
function serverWith(redirect: HandleRequest): NonNullable<FastifyServerOptions["serverFactory"]> {
  return (handle, options) => {
    const server = createServer(options.http ?? {}, (request, response) => {
      if (server.listening && redirect(request, response)) return;
      handle(request, response);
    });
    server.keepAliveTimeout = Number(options.keepAliveTimeout);
    server.requestTimeout = REQUEST_TIMEOUT_MS;
    return server.setTimeout(CONNECTION_TIMEOUT_MS);
  };
}

/** All answers under /api carry rate limit headers, errors included (interface, part 8). */
export function isUnderApi(url: string): boolean {
  return /^\/api(?:[/?]|$)/.test(url);
}

function acceptJsonOnly(app: Api): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "")
      return done(new InvalidRequest("The body is empty: a JSON object is expected", "invalid_json"));
    return parse(request, body as string, done);
  });
}

/** Answers connections whose bytes are not a valid HTTP request, for which Fastify creates no request object. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, text] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? ["431 Request Header Fields Too Large", "The address or the headers are too long"]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? ["408 Request Timeout", "The request took too long to arrive"]
        : ["400 Bad Request", "This is not a valid HTTP request"];
  const body = JSON.stringify({ error: text, code: "invalid_http", request_id: "" });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
