// The logger: JSON lines on a pipe, readable ones on a terminal, without personal data.
import type { FastifyReply, FastifyRequest } from "fastify";
import { type DestinationStream, type Logger, pino } from "pino";
import { errorFields } from "./error-fields.ts";

export type { Logger };

/** What parts of a thread log with. */
export type BasicLogger = Pick<Logger, "info" | "warn" | "error">;

/** Paths of log fields whose values pino replaces: API keys, headers with cookies, e-mail and IP addresses, secrets. */
const REDACTED = ["headers", "*.headers", "apiKey", "key", "email", "ip", "address", "password", "token"];

/** `destination`: standard output when absent, formatted by pino-pretty when that is a terminal. */
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

/** The route's pattern and not the URL, which may contain slugs and personal data. */
function describeRequest(request: FastifyRequest) {
  return { method: request.method, route: request.routeOptions?.url ?? "(none)" };
}

function describeReply(reply: FastifyReply) {
  return { status: reply.statusCode };
}

/** pino-pretty is a development dependency, absent after `npm install --omit=dev`. */
function hasPretty(): boolean {
  try {
    import.meta.resolve("pino-pretty");
    return true;
  } catch {
    return false;
  }
}
