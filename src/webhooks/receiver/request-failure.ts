// Maps errors and statuses of a request to a stable code and a sentence for the delivery log.
import { isRefused } from "../../commands/refusals.ts";

export type RequestFailure = { code: string; message: string };

const CONNECT = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "EACCES", "EPERM"]);
const LOST = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED"]);

const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "has expired",
  CERT_NOT_YET_VALID: "is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "was signed by an authority that is not trusted",
  UNABLE_TO_GET_ISSUER_CERT: "was signed by an authority that is not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    "was signed by an authority that is not trusted, or its chain is incomplete",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "was signed by an authority that is not trusted, or its chain is incomplete",
  ERR_TLS_CERT_ALTNAME_INVALID: "is for another name",
  CERT_REVOKED: "was revoked",
};

/** The failure for an error that a request threw; `timeoutMs`: the limit of the whole attempt. */
export function failureOf(thrown: unknown, timeoutMs: number): RequestFailure {
  const error = firstOf(thrown);
  if (isRefused(error)) return { code: error.code, message: error.message };
  const code = codeOf(error);
  if (code === "TimeoutError") return { code: "timeout", message: `No answer within ${timeoutMs / 1000} s` };
  if (code === "ETIMEDOUT")
    return { code: "connect_failed", message: "The receiver did not accept a connection in time" };
  if (CONNECT.has(code))
    return { code: "connect_failed", message: `The receiver refused the connection (${code})` };
  const certificate = CERTIFICATE[code];
  if (certificate)
    return { code: "tls_failed", message: `The receiver's certificate ${certificate} (${code})` };
  if (/^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_)/.test(code))
    return { code: "tls_failed", message: `No secure connection to the receiver (${code})` };
  if (LOST.has(code))
    return {
      code: "connection_lost",
      message: `The receiver closed the connection without an answer (${code})`,
    };
  if (/^HPE_/.test(code))
    return { code: "bad_answer", message: `The receiver's answer is not valid HTTP (${code})` };
  return { code: "request_failed", message: `The request failed (${code})` };
}

/** The failure for a response status; undefined for 2xx. */
export function failureOfStatus(status: number): RequestFailure | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status < 200)
    return { code: "bad_answer", message: `The receiver answered ${status}, which nobody asked for` };
  if (status >= 300 && status < 400)
    return { code: "redirected", message: `Answered ${status}: redirects are not followed` };
  return { code: "status", message: `Answered ${status}` };
}

/** When all addresses of a host fail, Node throws an AggregateError; its first error stands for all. */
function firstOf(thrown: unknown): unknown {
  return thrown instanceof AggregateError && thrown.errors.length > 0 ? thrown.errors[0] : thrown;
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.name;
}
