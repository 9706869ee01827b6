// The one way a form is taken: its sender is signed in, a command runs, its change becomes readable, and the next page
// says so; a form that is refused is shown again, with what was typed.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import type { HttpError } from "../../api/http-errors.ts";
import type { CommandContext } from "../../commands/caller.ts";
import { isClientError, isRefused } from "../../commands/refusals.ts";
import type { Limits } from "../../events/vocabulary.ts";
import type { CountDeps } from "../../limits/rate-limit.ts";
import type { Position } from "../../stores/event-store/port.ts";
import { isSignedIn } from "../route-rights.ts";
import { countChange, countPersonChange } from "./change-limit.ts";
import { isForPeople, sendErrorPage } from "./error-page.ts";
import type { RefusedForm } from "./refused-form.ts";
import { type Notice, portalContext, redirectTo } from "./request-visit.ts";
import { leadToSignIn, type SignedIn, type SignedInPerson, signedIn, signedInPerson } from "./sessions.ts";

type Schemas = { params?: z.ZodType; querystring?: z.ZodType; body?: z.ZodType };
type Parsed<S extends Schemas, Part extends keyof Schemas> = S[Part] extends z.ZodType
  ? z.output<S[Part]>
  : unknown;

/** A form, and who sent it. */
type Sent<S extends Schemas> = {
  params: Parsed<S, "params">;
  query: Parsed<S, "querystring">;
  body: Parsed<S, "body">;
  person: SignedInPerson;
  /** @throws Error in a form of a person who is in no account */
  readonly session: SignedIn;
  context: CommandContext;
  request: FastifyRequest;
  reply: FastifyReply;
};

/**
 * `position`: of the last event, waited for. `to`: the next page, or what sends a page that is shown this once; by default
 * the page of the form. `notice`: as text, what is done.
 */
type Done = {
  to?: string | (() => FastifyReply | Promise<FastifyReply>);
  notice?: string | Notice;
  position?: Position | undefined;
};

/** Shows the form again, with what was typed. */
export type ShowAgain = (reply: FastifyReply, refused: RefusedForm) => FastifyReply | Promise<FastifyReply>;

type Form<S extends Schemas> = {
  schema?: S;
  /** Bytes, where those of other forms (protect.ts) are too few. */
  bodyLimit?: number;
  /**
   * Counts the form before it is read; by default as a change of the account, or of the person. `uncounted`: it appends
   * nothing, or passwords are counted instead, so that an attacker who uses up the limit keeps nobody from it.
   */
  count?: "uncounted" | ((session: SignedIn) => Promise<void>);
  run: (sent: Sent<S>) => Promise<Done>;
  /** Of the page of the form, to which those come back who have to sign in again; by default /portal/keys of /keys/x. */
  path?: string | ((request: FastifyRequest, typed: RefusedForm["typed"]) => string);
  /** `back`: a notice on the page at `path` says why. Undefined: a page of its own says it. */
  again?: ShowAgain | "back";
};

/**
 * Characters of the address to return to after the sign-in, with what was typed: a longer one is sent without it, as
 * Node refuses headers above 16 KiB.
 */
const LONGEST_NEXT = 12_000;
const OUR_FAULT = "It is in our log. Please try again in a moment.";

/** POST `url` of people who are signed in. */
export function formRoute<S extends Schemas = Record<never, never>>(
  app: Api,
  deps: CountDeps & { limits: Limits; whenReadable: (position: Position | undefined) => Promise<void> },
  url: string,
  form: Form<S>,
): void {
  const { schema, bodyLimit, count = (session) => countChange(deps, session), run, again } = form;
  const { path = `/portal/${url.split("/")[1]}` } = form;
  const pathOf = (request: FastifyRequest) =>
    typeof path === "string" ? path : path(request, typedIn(request));
  const signIn = (request: FastifyRequest, reply: FastifyReply) => {
    const next = pathOf(request);
    const isShort = encodeURIComponent(next).length <= LONGEST_NEXT;
    return leadToSignIn(request, reply, isShort ? next : next.replace(/[?].*/s, ""));
  };
  const shown = again === "back" ? backTo(pathOf) : again;

  app.post(
    url,
    {
      schema: { ...schema },
      ...(bodyLimit !== undefined && { bodyLimit }),
      // After protect(), so that forms of other sites use up no limit.
      preValidation: async ({ visit: { session, person }, routeOptions: { config } }) => {
        if (count === "uncounted") return;
        if (config.right !== "person" && session) await count(session);
        if (config.right === "person" && person) await countPersonChange(deps, person);
      },
      preHandler: async (request, reply) => {
        if (!isSignedIn(request)) await signIn(request, reply);
      },
      errorHandler: async (error, request, reply) => {
        const isForeign = isRefused(error, "form_refused");
        if (!isForeign && isForPeople(request) && !isSignedIn(request)) return signIn(request, reply);
        return await shownAgain(shown)(error, request, reply);
      },
    },
    async (request, reply) => {
      const { params, query, body } = request;
      const sent = { params, query, body, person: signedInPerson(request), context: portalContext(request) };
      const outcome = await run({
        ...(sent as Omit<Sent<S>, "session" | "request" | "reply">),
        get session() {
          return signedIn(request);
        },
        request,
        reply,
      });
      const { position, to = pathOf(request), notice } = outcome;
      await deps.whenReadable(position);
      const text = typeof notice === "string" ? ({ kind: "done", text: notice } as const) : notice;
      return typeof to === "string" ? redirectTo(reply, to, text) : to();
    },
  );
}

/** The error handler of a form's route: shows the form again, or why it can't be shown. */
export function shownAgain(again: ShowAgain | undefined) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const field = isRefused(error) ? error.field : undefined;
    const show = ({ status, message }: HttpError) => {
      const action = request.url.replace(/[?].*/s, "");
      const told = { status, message: message || OUR_FAULT };
      const refused = { action, error, field, ...told, typed: typedIn(request) };
      return (again as ShowAgain)(reply, refused);
    };
    return sendErrorPage(error, request, reply, again && show);
  };
}

/** Refusals that are no more than a sentence; what is gone, limited or our fault has a page and a status of its own. */
function backTo(pathOf: (request: FastifyRequest) => string): ShowAgain {
  return (reply, { error, status, message: text }) => {
    if (!isClientError(error) || status === 404) throw error;
    return redirectTo(reply, pathOf(reply.request), { kind: "failed", text });
  };
}

function typedIn({ body }: FastifyRequest): RefusedForm["typed"] {
  return (body ?? {}) as RefusedForm["typed"];
}
