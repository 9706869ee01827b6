// The logger: JSON lines on a pipe, readable ones on a terminal, without personal data.
import { type DestinationStream, type LogFn, type Logger, pino } from "pino";
import { type ErrorFields, errorFields } from "./error-fields.ts";
import { isObject } from "./is-object.ts";

export type { Logger };

/** What parts of a thread log with. */
export type BasicLogger = Pick<Logger, "info" | "warn" | "error">;

/** Paths of log fields whose values pino replaces: API keys, headers with cookies, e-mail and IP addresses, secrets. */
const REDACTED = ["headers", "*.headers", "apiKey", "key", "email", "ip", "address", "password", "token"];

/** Codes of errors of stores that don't answer (stores/connections/errors.ts). */
const OUTAGES = new Set(["store_unavailable", "store_failed", "coordination_unavailable"]);
/** Longer than anything waits before it tries again. */
const OVER_AFTER_MS = 15_000;

/** Such as standard output, which has no colours where NO_COLOR is set. */
type Terminal = { write(text: string): unknown; hasColors?: () => boolean };

type Line = Record<string, unknown> & {
  level: string;
  time: string;
  msg?: string;
  err?: ErrorFields;
  outage?: ErrorFields;
};

const DIM = "2";
const COLOURS: Readonly<Record<string, string>> = { info: "32", warn: "33", error: "31", fatal: "1;31" };

/** `destination`: standard output when absent. On a terminal lines are for people. */
export function createLogger(level: string, destination?: DestinationStream & { isTTY?: boolean }): Logger {
  const options = {
    level,
    base: { service: "linkledger" },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: REDACTED, censor: "(hidden)" },
    serializers: { err: describeError, outage: describeError },
    hooks: { logMethod: oneLineAnOutage() },
  };
  const stream = destination ?? process.stdout;
  if (stream.isTTY) return pino(options, terminalLog(stream));
  return destination ? pino(options, destination) : pino(options);
}

/** Where a call was when a store was unavailable says nothing of why. */
function describeError(error: unknown): ErrorFields {
  const { stack, cause, ...fields } = errorFields(error);
  return isOutage(fields) ? fields : errorFields(error);
}

function isOutage({ code }: Pick<ErrorFields, "code">): boolean {
  return OUTAGES.has(String(code));
}

/**
 * Whatever meets it: the first line says why, others of the same cause are left out until it has not been met for a while. One
 * whose error is in `outage` instead of `err` says what to do, and is never left out.
 */
function oneLineAnOutage() {
  const metAt = new Map<string, number>();
  return function logMethod(this: Logger, inputs: Parameters<LogFn>, method: LogFn): void {
    const [first] = inputs as unknown[];
    const { err = undefined, outage = err } = isObject(first) ? first : {};
    const { code = "", message = "" } = outage === undefined ? {} : errorFields(outage);
    if (isOutage({ code })) {
      const cause = `${code} ${code === "store_failed" ? message : message.split(":")[0]}`;
      const now = performance.now();
      const isKnown = now - (metAt.get(cause) ?? Number.NEGATIVE_INFINITY) < OVER_AFTER_MS;
      metAt.set(cause, now);
      if (isKnown && outage === err) return;
    }
    method.apply(this, inputs);
  };
}

/** Makes a readable line of each of pino's JSON lines, in which secrets are redacted already, with its error below it. */
function terminalLog(terminal: Terminal): Pick<Terminal, "write"> {
  const hasColours = terminal.hasColors?.() ?? false;
  const colour = (code: string, text: string) => (hasColours ? `\u001B[${code}m${text}\u001B[0m` : text);
  return {
    write(json) {
      const { level, time, msg = "", outage, err = outage, service: _, ...fields } = JSON.parse(json) as Line;
      const clock = new Date(time).toTimeString().slice(0, 8);
      const named = Object.entries(fields).flatMap(([name, value]) => flat(name, value));
      const head = [
        colour(DIM, clock),
        colour(COLOURS[level] ?? DIM, level.padEnd(5)),
        plain(msg),
        ...(named.length > 0 ? [colour(DIM, named.join("  "))] : []),
      ].join(" ");
      const below = err ? described(err).map((line) => colour(DIM, `  ${plain(line)}`)) : [];
      return terminal.write(`${[head, ...below].join("\n")}\n`);
    },
  };
}

/** `name=value`; of an object one for each of its members. */
function flat(name: string, value: unknown): string[] {
  if (isObject(value))
    return Object.entries(value).flatMap(([member, inner]) => flat(`${name}.${member}`, inner));
  return [plain(`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)];
}

/** What was thrown, where, and what had caused it. */
function described({ type, code, message, stack = "", cause, errors = [] }: ErrorFields): string[] {
  const places = stack.split("\n").filter((line) => /^\s+at /.test(line));
  const causes = [...(cause ? [cause] : []), ...errors].flatMap((fields) => {
    const [first, ...rest] = described(fields);
    return [`caused by ${first}`, ...rest];
  });
  return [`${type}${code === undefined ? "" : ` (${code})`}: ${message}`, ...places, ...causes];
}

/** Without what a terminal obeys: a message may quote what somebody has sent. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, "\uFFFD");
}
