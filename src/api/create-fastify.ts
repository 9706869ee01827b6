// Fastify with the service's limits and error object, also for errors that Fastify answers before routing, and
// what all routes of the base host have in common.
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import Fastify, { type FastifyReply, type FastifyRequest, LogController } from "fastify";
import type { z } from "zod";
import { OUR_WORDS } from "../commands/issue-sentence.ts";
import { Refused } from "../commands/refusals.ts";
import { hostResolver } from "../redirect/http/hosts.ts";
import type { Trust } from "../redirect/http/requester.ts";
import type { Logger } from "../runtime/logging.ts";
import type { Api } from "./fastify.ts";
import { refusedRequest, sendError } from "./http-errors.ts";
import type { KeyGuard } from "./key-guard.ts";
import type { RequestIdOf } from "./request-id.ts";

/** Enough for a bulk request: 100 links of 8,192 characters. */
const BODY_LIMIT_BYTES = 1_048_576;
/** Longer than any slug, so that an overlong one gets the route's error instead of the router's. */
const MAX_PARAM_LENGTH = 2_048;
/** Above Fastify's default, because starting on a busy machine can be slow. */
const START_TIMEOUT_MS = 60_000;

/** What the log says of a request: the route's pattern and not the URL, which may contain slugs and personal data. */
const serializers = {
  req: ({ method, routeOptions }: FastifyRequest) => ({ method, route: routeOptions?.url ?? "(none)" }),
  res: ({ statusCode }: FastifyReply) => ({ status: statusCode }),
};

export type FastifyDeps = {
  log: Logger;
  trust: false | Trust;
  /** Adds rate limit headers to errors of URLs that can't be parsed, for which no hook runs. */
  showWindow: ((request: FastifyRequest, reply: FastifyReply) => Promise<void>) | undefined;
  requestIdOf: RequestIdOf;
  /** What the routes know an address as. */
  routedAs?: (url: string) => string;
};

/** It never listens: its `routing` handles the requests that the server (http-server.ts) passes on. */
export function createFastify(deps: FastifyDeps): Api {
  const { routedAs = (url) => url } = deps;
  const app = Fastify({
    loggerInstance: deps.log.child({}, { serializers }),
    requestIdHeader: false,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    genReqId: deps.requestIdOf,
    rewriteUrl: ({ url = "/" }: IncomingMessage) => routedAs(url),
    trustProxy: deps.trust,
    bodyLimit: BODY_LIMIT_BYTES,
    pluginTimeout: START_TIMEOUT_MS,
    // What comes on open connections during a stop is answered, with `connection: close` (http-server.ts).
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // Given here instead of by setters, so that Fastify does not load Ajv.
    schemaController: {
      compilersFactory: {
        // Fastify's types know Ajv's compiler only.
        buildValidator: () => validatorOf as never,
        // Response schemas serve OpenAPI and the type checker only; zod's serializer would drop keys that they don't list.
        buildSerializer: () => () => JSON.stringify,
      },
    },
    frameworkErrors: (error, request, reply) => {
      const [received, answer] = [request as FastifyRequest, reply as unknown as FastifyReply];
      answer.header("x-request-id", received.id);
      const shown = isUnderApi(received.url) ? deps.showWindow?.(received, answer) : undefined;
      void Promise.resolve(shown)
        .catch(() => undefined)
        .then(() => sendError(error, received, answer));
    },
  }) as unknown as Api;
  app.setErrorHandler(sendError);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done();
  });
  acceptJsonOnly(app);
  return app;
}

/**
 * Hooks for all routes of the base host: other hosts are refused before any body is read, and each answer is
 * counted and logged. The 404 of unknown paths under /api carries rate limit headers too.
 */
export function baseHostGate(
  app: Api,
  deps: {
    baseHost: string;
    /** Undefined in a process without the api role. */
    guard: KeyGuard | undefined;
    metrics: { requested(method: string, route: string, status: number, seconds: number): void };
    /** Answers requests for other hosts, such as custom domains; false when it did not send a reply. */
    otherHost: ((request: FastifyRequest, reply: FastifyReply) => Promise<boolean>) | undefined;
  },
): void {
  const hostOf = hostResolver(deps.baseHost);
  const baseHost = hostOf(deps.baseHost);
  const { guard, metrics } = deps;
  const methodsOf = methodsByPath(app);
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-content-type-options", "nosniff");
    if (hostOf(request.host ?? "") !== baseHost) {
      if (await deps.otherHost?.(request, reply)) return reply;
      throw new Refused("not_found");
    }
    if (!request.is404) return undefined;
    if (guard && isUnderApi(request.url)) await guard.count(request, reply);
    // For unknown pages portal and console have their own not-found handlers, which answer with HTML.
    const isPage = request.url.startsWith("/portal/") || request.url.startsWith("/admin/");
    if (request.method === "GET" && isPage) return undefined;
    const methods = isUnderApi(request.url) ? methodsOf(request.url) : [];
    if (methods.length === 0) throw new Refused("not_found");
    reply.header("allow", methods.join(", "));
    throw new Refused("method_not_allowed");
  });
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "(unknown)";
    const { method } = request;
    metrics.requested(method, route, reply.statusCode, reply.elapsedTime / 1000);
    const ms = Math.round(reply.elapsedTime);
    request.log.info({ method, route, status: reply.statusCode, ms }, "answered");
  });
  app.setNotFoundHandler(() => {
    throw new Refused("not_found");
  });
}

/** Returns a function that tells which methods the path of an address has, by the routes that are registered after. */
function methodsByPath(app: Api): (url: string) => string[] {
  const routes: { path: RegExp; method: string }[] = [];
  app.addHook("onRoute", ({ url, method }) => {
    const path = new RegExp(`^${url.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/:[^/]+/g, "[^/]+")}$`);
    for (const name of [method].flat()) routes.push({ path, method: name });
  });
  return (url) => {
    const [path = ""] = url.split("?", 1);
    return [...new Set(routes.filter((route) => route.path.test(path)).map(({ method }) => method))].sort();
  };
}

/** All answers under /api carry rate limit headers, errors included (interface, part 8). */
function isUnderApi(url: string): boolean {
  return /^\/api(?:[/?]|$)/.test(url);
}

function mayHaveNoBody({ routeOptions }: FastifyRequest): boolean {
  const schema = routeOptions.schema?.body as z.ZodType | undefined;
  return !schema || schema.safeParse(undefined).success;
}

function validatorOf({ schema, httpPart = "body" }: { schema: z.ZodType; httpPart?: string }) {
  return (value: unknown) => {
    const { success, data, error } = schema.safeParse(value, OUR_WORDS);
    return success ? { value: data } : { error: refusedRequest(httpPart, error.issues) };
  };
}

function acceptJsonOnly(app: Api): void {
  // Fields such as __proto__ are valid JSON: the schemas refuse them, in a bulk request for their item alone.
  const parse = app.getDefaultJsonParser("ignore", "ignore");
  app.removeAllContentTypeParsers();
  // As bytes, because decoding would replace what is not UTF-8 without a word.
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    // Some clients name the type of a body that they do not send.
    if (body.length === 0 && mayHaveNoBody(request)) return done(null, undefined);
    if (body.length === 0)
      return done(new Refused("invalid_json", "The body is empty: it must be a JSON object"));
    if (!isUtf8(body as Buffer))
      return done(new Refused("invalid_json", "The body is not valid JSON: it must be in UTF-8"));
    return parse(request, body.toString(), done);
  });
}
