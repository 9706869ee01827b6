// Starts a session after authentication: new session and device tokens, whatever cookies the browser sent (session
// fixation).
import type { FastifyReply, FastifyRequest } from "fastify";
import type { PortalDeps } from "../portal-deps.ts";
import { type Sessions, signInPlace } from "../shell/sessions.ts";
import { DEVICE_DAYS, type KnownDevices } from "./known-devices.ts";
import type { PasswordWork } from "./password-work.ts";

/** Lifetime of the cookies; an unused session expires earlier on the server (SESSION_DAYS). */
const COOKIE_SECONDS = DEVICE_DAYS * 86_400;

/** Deps of pages that authenticate people. */
export type SignInDeps = PortalDeps & {
  sessions: Sessions;
  devices: KnownDevices;
  passwordWork: PasswordWork;
};

/** Ends the browser's previous session, if any. */
export async function startSession(
  { sessions, devices }: Pick<SignInDeps, "sessions" | "devices">,
  request: FastifyRequest,
  reply: FastifyReply,
  { accountId, epoch }: { accountId: string; epoch: string },
): Promise<void> {
  const { cookies, session } = request.visit;
  if (session) await sessions.end(session.accountId, session.sessionId);
  const value = await sessions.open(accountId, epoch, signInPlace(request));
  reply.setCookie(cookies.session, value, { ...cookies.options, maxAge: COOKIE_SECONDS });
  const device = cookies.device(accountId);
  const token = await devices.issue(accountId, request.cookies[device]);
  reply.setCookie(device, token, { ...cookies.options, maxAge: COOKIE_SECONDS });
}

/** Signs out: deletes the session on the server, not only the cookie. */
export async function endSession(
  { sessions }: { sessions: Sessions },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { cookies, session } = request.visit;
  if (session) await sessions.end(session.accountId, session.sessionId);
  reply.clearCookie(cookies.session, cookies.options);
}
