// The password of a link at the redirect: who has a pass goes on, others are asked, the right answer gives a pass.
import type { IncomingMessage, ServerResponse } from "node:http";
import { isRefused } from "../../commands/refusals.ts";
import type { Logger } from "../../runtime/logging.ts";
import { answerError } from "../http/answers.ts";
import type { PageLook } from "../http/plain-page.ts";
import { type LinkPasses, type PassFor, passCookie } from "./link-pass.ts";
import type { PasswordCheck } from "./password-check.ts";
import type { PostedForm } from "./password-form.ts";
import { pageHeaders, passwordPage } from "./password-page.ts";

type PasswordGateDeps = {
  passes: LinkPasses;
  check: PasswordCheck;
  log: Pick<Logger, "warn">;
};

/** `form`: of a POST. `now`: milliseconds since 1970. `isSecure`: the link is at an https address. */
export type AskedVisit = {
  request: IncomingMessage;
  response: ServerResponse;
  form: PostedForm | undefined;
  requestId: string;
  address: string;
  now: number;
  isSecure: boolean;
  /** Of the page that asks; read where it is shown. */
  look: () => Promise<PageLook | undefined>;
};

/**
 * Whether the visit goes on; otherwise it is answered. @throws StoreUnavailable, too_busy: none goes on unchecked
 */
export type PasswordGate = (of: PassFor, visit: AskedVisit) => Promise<boolean>;

const NEEDED = {
  status: 401,
  code: "password_required",
  error: "This short link needs a password: post it to this address as password, in a form",
} as const;
const WRONG = {
  status: 401,
  code: "wrong_password",
  error: "This is not the password of this link",
} as const;
const TOO_LARGE = { status: 400, code: "body_too_large", error: "This is too long for a password" } as const;

type Refusal = { status: number; code: string; error: string; retryAfter?: number };

export function passwordGate({ passes, check, log }: PasswordGateDeps): PasswordGate {
  async function refusalOf(of: PassFor, address: string, password: string) {
    const isRight = await check(of, address, password);
    if (isRight === undefined)
      log.warn({ link: of.link }, "the password of a link is missing from the secrets");
    return isRight ? undefined : WRONG;
  }

  return async (of, visit) => {
    const { request, response, form, address, now, isSecure } = visit;
    if (form === undefined) {
      if (passes.isIn(request.headers.cookie, of, now)) return true;
      return ask(visit, NEEDED);
    }
    if (form === "too large") return ask(visit, TOO_LARGE);
    if (form.password === "") return ask(visit, NEEDED);
    const refusal = await refusalOf(of, address, form.password).catch((error: unknown) => {
      if (!isRefused(error, "rate_limit_exceeded")) throw error;
      const { code, message, retryAfter = 0 } = error;
      return { status: 429, code, error: message, retryAfter };
    });
    if (refusal) return ask(visit, refusal);
    response.setHeader("set-cookie", passCookie(passes.issue(of, now), request.url ?? "", { isSecure }));
    return true;
  };
}

/**
 * Also a refusal. A 401 needs a challenge (RFC 9110, 15.5.2), and browsers show a dialog of their own for Basic,
 * Digest and the like: `Cookie` names what is wanted here, and is no scheme of theirs.
 */
async function ask(visit: AskedVisit, { status, code, error, retryAfter }: Refusal): Promise<false> {
  const { request, response, requestId } = visit;
  const look = (await visit.look()) ?? {};
  for (const [name, value] of Object.entries(pageHeaders(look))) response.setHeader(name, value);
  if (status === 401) response.setHeader("www-authenticate", 'Cookie realm="This short link"');
  if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter);
  const page = passwordPage(code === NEEDED.code ? undefined : error, look);
  answerError(request, response, status, { error, page, code, requestId });
  return false;
}
