// Log lines for operators: JSON on a pipe, pretty on a terminal, and nothing in them that belongs to a person.
import type { FastifyReply, FastifyRequest } from "fastify";
import { type DestinationStream, type Logger, pino } from "pino";
import { errorFields } from "./error-fields.ts";

export type { Logger };

/** Never logged, wherever they turn up: keys, cookies, addresses of people and machines. */
const REDACTED = ["headers", "*.headers", "apiKey", "key", "email", "ip", "address", "password", "token"];

/** `destination`: where lines go; standard output by default, pretty when that is a terminal. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { service: "linkledger" },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: REDACTED, censor: "(hidden)" },
    serializers: { req: describeRequest, res: describeReply, err: (error: unknown) => errorFields(error) },
  };
  if (destination) return pino(options, destination);
  if (!process.stdout.isTTY || !hasPretty()) return pino(options);
  const { formatters: _, ...plain } = options;
  return pino(plain, pino.transport({ target: "pino-pretty", options: { ignore: "pid,hostname,service" } }));
}

/** The route's pattern, not the address: that may hold a slug, a query, a person's data. */
function describeRequest(request: FastifyRequest) {
  return { method: request.method, route: request.routeOptions?.url ?? "(none)" };
}

function describeReply(reply: FastifyReply) {
  return { status: reply.statusCode };
}

/** A development dependency: absent in a lean installation. */
function hasPretty(): boolean {
  try {
    import.meta.resolve("pino-pretty");
    return true;
  } catch {
    return false;
  }
}
