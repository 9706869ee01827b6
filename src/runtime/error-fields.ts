// An error as plain fields for the log: they can be structured-cloned between threads and contain no personal data.
export type ErrorFields = {
  /** The error's class. */
  type: string;
  /** Ours (`store_unavailable`), Node's (`ECONNREFUSED`) or gRPC's (16). */
  code?: string | number;
  message: string;
  /** Seconds. */
  retryAfter?: number;
  stack?: string;
  cause?: ErrorFields;
  /** Of an AggregateError, such as one refused connection for each address of a host. */
  errors?: ErrorFields[];
};

const MAX_DEPTH = 5;
const MAX_ERRORS = 5;

/** Copies these fields only, as libraries attach whole requests, headers and documents to their errors. */
export function errorFields(error: unknown, depth = 0): ErrorFields {
  if (isErrorFields(error)) return error;
  if (!(error instanceof Error)) return { type: typeof error, message: withoutPersonalData(describe(error)) };
  const { code, cause, retryAfter } = error as { code?: unknown; cause?: unknown; retryAfter?: unknown };
  const errors = error instanceof AggregateError ? error.errors.slice(0, MAX_ERRORS) : [];
  const message = error.message || errors.map((inner) => describe(inner)).join("; ");
  const hasDepthLeft = depth < MAX_DEPTH;
  return {
    type: error.name === "Error" ? error.constructor.name : error.name,
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
    message: withoutPersonalData(message),
    ...(typeof retryAfter === "number" && { retryAfter }),
    stack: withoutPersonalData(error.stack ?? ""),
    ...(hasDepthLeft && cause !== undefined ? { cause: errorFields(cause, depth + 1) } : {}),
    ...(hasDepthLeft && errors.length > 0
      ? { errors: errors.map((inner) => errorFields(inner, depth + 1)) }
      : {}),
  };
}

/** True for an error that another thread has converted already. */
function isErrorFields(value: unknown): value is ErrorFields {
  if (typeof value !== "object" || value === null || value instanceof Error) return false;
  const { type, message } = value as Partial<ErrorFields>;
  return typeof type === "string" && typeof message === "string";
}

function describe(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return typeof thrown === "object" ? Object.prototype.toString.call(thrown) : String(thrown);
}

/** Replaces URLs except those of source files, e-mail addresses, and API and webhook keys (interface, part 2). */
function withoutPersonalData(text: string): string {
  return text
    .replace(/\b(?!file:|node:)[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi, "(url)")
    .replace(/[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b/gi, "(email)")
    .replace(/\b[a-z][a-z0-9]*_[A-Za-z0-9]{32}\b/g, "(key)");
}
