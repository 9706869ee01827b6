// Starts and ends sessions, whatever cookies the browser sent (session fixation), and knows browsers that signed in
// before: a device cookie (OWASP) gives its own limit of attempts, so that attackers elsewhere can't lock anybody out.
import { hash, randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { personWithEmail } from "../../commands/people/email.ts";
import { deviceSecret } from "../../commands/people/secrets.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { type Sessions, type SignInProof, signInPlace } from "../shell/sessions.ts";

/** Expiry of a device, counted from the last sign-in. */
const DEVICE_DAYS = 365;
const DAY_MS = 86_400_000;
const MOST_DEVICES = 20;
/** Lifetime of the cookies; an session expires earlier on the server (SESSION_HOURS). */
const COOKIE_SECONDS = DEVICE_DAYS * 86_400;

/** Deps of pages that authenticate people. */
export type SignInDeps = PortalDeps & {
  sessions: Sessions;
  devices: ReturnType<typeof knownDevices>;
};

/** Ends the browser's previous session, if any. `accountId`: the one to look at; by default the person's own, else their first. @throws sign_in_off */
export async function startSession(
  { sessions, devices, accountsOf }: SignInDeps,
  reply: FastifyReply,
  { personId, accountId, ...proof }: { personId: string; accountId?: string } & SignInProof,
): Promise<void> {
  const { request } = reply;
  const { cookies, person } = request.visit;
  if (person) await sessions.end(person.personId, person.sessionId);
  // Who signs in again stays in their account.
  const present = person?.personId === personId ? request.visit.session?.accountId : undefined;
  const first = accountId ?? present ?? (await accountsOf(personId))[0] ?? "";
  const value = await sessions.open(personId, proof, { ...signInPlace(request), accountId: first });
  reply.setCookie(cookies.session, value, { ...cookies.options, maxAge: COOKIE_SECONDS });
  const device = cookies.device(personId);
  const token = await devices.issue(personId, request.cookies[device]);
  reply.setCookie(device, token, { ...cookies.options, maxAge: COOKIE_SECONDS });
}

/** Signs out: deletes the session on the server, not only the cookie. */
export async function endSession({ sessions }: SignInDeps, reply: FastifyReply): Promise<void> {
  const { cookies, person } = reply.request.visit;
  if (person) await sessions.end(person.personId, person.sessionId);
  reply.clearCookie(cookies.session, cookies.options);
}

export function knownDevices(deps: { secrets: Secrets; clock: () => Date }) {
  const { secrets, clock } = deps;

  return {
    /**
     * Called after a sign-in; returns the cookie's value. `previous`: the browser's cookie before, which becomes void.
     * Always a new token, so that a planted cookie is worthless and the limit of attempts starts anew. Keeps the newest
     * MOST_DEVICES of a person.
     */
    async issue(personId: string, previous: string | undefined): Promise<string> {
      if (previous !== undefined) await secrets.delete(deviceSecret(personId, hash("sha256", previous)));
      const token = randomBytes(32).toString("base64url");
      const now = clock();
      const value = { at: now.toISOString() };
      const expiresAt = new Date(now.getTime() + DEVICE_DAYS * DAY_MS).toISOString();
      await secrets.put(deviceSecret(personId, hash("sha256", token)), { value, expiresAt });
      const devices = await secrets.list(deviceSecret(personId, ""), now);
      const at = (device: (typeof devices)[number]) => (device.value as typeof value).at;
      const oldestFirst = devices.sort((a, b) => at(a).localeCompare(at(b)));
      for (const { key } of oldestFirst.slice(0, -MOST_DEVICES)) await secrets.delete(key);
      return token;
    },

    /** The device id, if the request's browser has signed in with this address before. */
    async recognise(request: FastifyRequest, email: string): Promise<string | undefined> {
      const holder = await personWithEmail(deps, email);
      const token = holder && request.cookies[request.visit.cookies.device(holder.personId)];
      if (!token) return undefined;
      const deviceId = hash("sha256", token);
      const device = await secrets.get(deviceSecret(holder.personId, deviceId), clock());
      return device === undefined ? undefined : deviceId;
    },
  };
}
