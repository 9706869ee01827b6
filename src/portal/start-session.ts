// From a proven person to a session in their browser: a new one, whatever cookie they came with.
import type { FastifyReply, FastifyRequest } from "fastify";
import { anonymiseIp } from "../redirect/anonymise-ip.ts";
import { agentOf } from "../redirect/user-agent.ts";
import type { Sessions } from "./sessions.ts";

/** The session itself ends earlier, when it isn't used. */
const COOKIE_SECONDS = 31_536_000;

export async function startSession(
  { sessions }: { sessions: Sessions },
  request: FastifyRequest,
  reply: FastifyReply,
  { accountId, epoch }: { accountId: string; epoch: string },
): Promise<void> {
  const { cookies, session } = request.visit;
  if (session) await sessions.end(session.accountId, session.sessionId);
  const { browser, os } = agentOf(request.headers["user-agent"] ?? "");
  const value = await sessions.open(accountId, epoch, {
    browser: `${browser.name} on ${os.name}`,
    address: anonymiseIp(request.ip),
  });
  reply.setCookie(cookies.session, value, { ...cookies.options, maxAge: COOKIE_SECONDS });
}

/** Signs out: the session is gone, not only its cookie. */
export async function endSession(
  { sessions }: { sessions: Sessions },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { cookies, session } = request.visit;
  if (session) await sessions.end(session.accountId, session.sessionId);
  reply.clearCookie(cookies.session, cookies.options);
}
