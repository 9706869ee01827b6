// Portal sessions of people: a random token in a cookie, of which only the SHA-256 is stored; void after a change of
// password, and where the way that they were begun by is off.
// Each names the account that was looked at last; its person has to be a member of the one that is, at every request.
import { hash, randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { CurrentAccount } from "../../commands/account/account-stream.ts";
import { passwordEpoch } from "../../commands/people/password.ts";
import { emailSecret, SESSIONS, sessionSecret } from "../../commands/people/secrets.ts";
import { Refused } from "../../commands/refusals.ts";
import { agentOf } from "../../events/classification/user-agent.ts";
import { type Role, type SignInWay, type Tier, UNKNOWN } from "../../events/vocabulary.ts";
import { anonymiseIp } from "../../redirect/clicks/enrich/anonymise-ip.ts";
import type { ProviderLogout } from "../../sign-in/oidc/logout-token.ts";
import type { Secrets } from "../../stores/secrets/port.ts";

const HOUR_MS = 3_600_000;
/** Resolution of `seenAt`: a session in use is written at most this often. */
const SEEN_EVERY_MS = 15 * 60_000;
/** Longer than a sign-in takes once the provider has answered. */
const LOGOUT_LASTS_MS = 10 * 60_000;
const TOKEN = /^([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/;

/** `link`: by one that the operator made, which works whatever ways are on. */
type SessionWay = SignInWay | "link";

/** Of a session that began at a provider. Times: seconds since 1970 by its clock. `isOperator`: by a group. */
type AtProvider = {
  issuer: string;
  subject: string;
  sid: string | undefined;
  idToken: string;
  issuedAt: number;
  /** When they typed their password there, where the provider says it. */
  authenticatedAt: number | undefined;
  isOperator: boolean;
};

/**
 * How somebody signed in. `epoch`: of the password that was verified; by other ways that of the present one. `since`: when, of a
 * session that goes on as another one, and ends no later; by default now.
 */
export type SignInProof = { way: SessionWay; epoch?: string; since?: string; provider?: AtProvider };

/** `email`: empty for who has none. `since`: when they signed in, ISO 8601 UTC. */
export type SignedInPerson = {
  personId: string;
  email: string;
  sessionId: string;
  way: SessionWay;
  since: string;
  provider?: AtProvider | undefined;
};

/** Somebody in an account. `timeZone`: chosen for the account's numbers; null for that of the browser. */
export type SignedIn = SignedInPerson & {
  accountId: string;
  role: Role;
  tier: Tier;
  timeZone: string | null;
};

/**
 * `epoch`: that of the password at sign-in. `browser`, `address` (anonymised): shown to the person. `accountId`: the account
 * that was looked at last; "" for none.
 */
type SessionRecord = {
  createdAt: string;
  seenAt: string;
  epoch: string;
  way: SessionWay;
  provider?: AtProvider;
  browser: string;
  address: string;
  accountId: string;
};

export type SessionOfPerson = SessionRecord & { sessionId: string };
export type Sessions = ReturnType<typeof sessions>;

/** When the provider ended the session there, or all of the subject's: seconds since 1970 by its clock. */
const logoutSecret = (issuer: string, ended: { sid: string } | { subject: string | undefined }) =>
  `provider-logout/${hash("sha256", JSON.stringify([issuer, ended]))}`;

type Deps = {
  secrets: Secrets;
  currentAccount: CurrentAccount;
  clock: () => Date;
  /** The ways that are on. */
  signIn: readonly SignInWay[];
  /** The provider that people sign in at now. */
  oidc?: { client: { readonly issuer: string } } | undefined;
  sessionHours: number;
};

/** `sessionId` is the SHA-256 of the token in hex, so it can be shown and can't be used as a cookie. */
export function sessions(deps: Deps) {
  const { secrets, currentAccount, clock, signIn, oidc, sessionHours } = deps;

  const endOf = ({ createdAt }: SessionRecord) => Date.parse(createdAt) + sessionHours * HOUR_MS;
  const lasting = (value: SessionRecord) => ({ value, expiresAt: new Date(endOf(value)).toISOString() });
  const isWayOn = (way: SessionWay) => way === "link" || signIn.includes(way);
  /** Of another provider than today's nothing is left: neither groups nor a logout there would end it. */
  const isProviderOn = ({ provider }: SessionRecord) =>
    provider === undefined || provider.issuer === oidc?.client.issuer;
  /** `epoch`: of the person's password by now. */
  const isOpen = (record: SessionRecord, epoch: string) =>
    record.epoch === epoch &&
    isWayOn(record.way) &&
    isProviderOn(record) &&
    endOf(record) > clock().getTime();

  const hasEndedThere = async ({ issuer, subject, sid, issuedAt }: AtProvider) => {
    const names = [{ subject }, ...(sid === undefined ? [] : [{ sid }])];
    const ends = await Promise.all(names.map((ended) => secrets.get(logoutSecret(issuer, ended), clock())));
    return ends.some((endedAt) => typeof endedAt === "number" && issuedAt <= endedAt);
  };

  const inAccount = async (person: SignedInPerson, accountId: string): Promise<SignedIn | undefined> => {
    const account = accountId === "" ? undefined : await currentAccount(accountId);
    const role = account?.status === "open" ? account.members.get(person.personId)?.role : undefined;
    if (account?.status !== "open" || role === undefined) return undefined;
    const { tier, timeZone } = account;
    return { ...person, accountId, role, tier, timeZone };
  };

  return {
    /**
     * Returns the cookie's value. Always a new token, which prevents session fixation. The session is void once the
     * password's epoch differs from the proof's. @throws sign_in_off; provider_refused for who was signed out there meanwhile
     */
    async open(
      personId: string,
      proof: SignInProof,
      from: ReturnType<typeof signInPlace> & { accountId: string },
    ): Promise<string> {
      if (!isWayOn(proof.way)) throw new Refused("sign_in_off");
      const token = randomBytes(32).toString("base64url");
      const { since, ...how } = proof;
      const epoch = proof.epoch ?? (await passwordEpoch(secrets, personId, clock()));
      const now = clock().toISOString();
      const record = { createdAt: since ?? now, seenAt: now, ...how, epoch, ...from };
      const key = sessionSecret(personId, hash("sha256", token));
      await secrets.put(key, lasting(record));
      if (!proof.provider || !(await hasEndedThere(proof.provider))) return `${personId}.${token}`;
      await secrets.delete(key);
      throw new Refused("provider_refused", "You were signed out at the provider meanwhile: sign in again");
    },

    /**
     * Undefined for a missing, unknown, ended or expired session, and for who was removed. `accountId`: the account in the
     * address, by default the one that was looked at last. `session`: undefined too where the person is no member of it.
     */
    async find(
      cookie: string | undefined,
      accountId?: string,
    ): Promise<{ person: SignedInPerson; session: SignedIn | undefined } | undefined> {
      const [, personId = "", token = ""] = TOKEN.exec(cookie ?? "") ?? [];
      if (token === "") return undefined;
      const sessionId = hash("sha256", token);
      const now = clock();
      const [record, epoch, email] = await Promise.all([
        secrets.get(sessionSecret(personId, sessionId), now) as Promise<SessionRecord | undefined>,
        passwordEpoch(secrets, personId, now),
        secrets.get(emailSecret(personId), now),
      ]);
      if (!record || !isOpen(record, epoch) || typeof email !== "string") return undefined;
      const { way, createdAt: since, provider } = record;
      const person = { personId, email, sessionId, way, since, provider };
      const session = await inAccount(person, accountId ?? record.accountId);
      const isElsewhere = session !== undefined && session.accountId !== record.accountId;
      if (isElsewhere || now.getTime() - Date.parse(record.seenAt) >= SEEN_EVERY_MS) {
        const at = session?.accountId ?? record.accountId;
        const seen = lasting({ ...record, accountId: at, seenAt: now.toISOString() });
        // A sign-out since the read above must not be undone by this write.
        if (!(await secrets.putIfPresent(sessionSecret(personId, sessionId), seen, now))) return undefined;
      }
      return { person, session };
    },

    /** Most recently used first, without those that are void. */
    async list(personId: string): Promise<SessionOfPerson[]> {
      const epoch = await passwordEpoch(secrets, personId, clock());
      const stored = await secrets.list(sessionSecret(personId, ""), clock());
      return stored
        .map(({ key, value }) => ({ sessionId: key.split("/").at(-1) ?? "", ...(value as SessionRecord) }))
        .filter((session) => isOpen(session, epoch))
        .sort((a, b) => b.seenAt.localeCompare(a.seenAt));
    },

    /**
     * Those that began at the provider not later than a logout there: of one session there, or of all of the subject's; those,
     * too, whose sign-in is still at work. `issuedAt`: Infinity for all that have begun, where it is unlinked here and nobody was
     * logged out there. `personId`: whose they are; undefined where nobody is known, or the provider names a session alone.
     * Returns whose have ended.
     */
    async endAtProvider(
      { issuer, subject, sid, issuedAt }: ProviderLogout,
      personId: string | undefined,
    ): Promise<Set<string>> {
      const expiresAt = new Date(clock().getTime() + LOGOUT_LASTS_MS).toISOString();
      const key = logoutSecret(issuer, sid === undefined ? { subject } : { sid });
      if (Number.isFinite(issuedAt)) await secrets.put(key, { value: issuedAt, expiresAt });
      if (subject !== undefined && personId === undefined) return new Set();
      const stored = await secrets.list(personId ? sessionSecret(personId, "") : SESSIONS, clock());
      const ended = new Set<string>();
      for (const { key, value } of stored) {
        const { provider } = value as SessionRecord;
        if (provider?.issuer !== issuer || provider.issuedAt > issuedAt) continue;
        if (sid === undefined ? provider.subject !== subject : provider.sid !== sid) continue;
        await secrets.delete(key);
        ended.add(key.split("/").at(-2) ?? "");
      }
      return ended;
    },

    end: (personId: string, sessionId: string) => secrets.delete(sessionSecret(personId, sessionId)),
    async endAll(personId: string): Promise<void> {
      for (const { key } of await secrets.list(sessionSecret(personId, ""), clock()))
        await secrets.delete(key);
    },
  };
}

/** The session of a route with a right of an account (route-rights.ts). */
export function signedIn({ visit: { session } }: FastifyRequest): SignedIn {
  if (!session) throw new Error("This route has no right of an account");
  return session;
}

/** In which the days of the numbers begin; that of the browser may be none at all. */
export function zoneOf(request: FastifyRequest): string | undefined {
  return signedIn(request).timeZone ?? request.visit.zone;
}

/** Who is signed in, be it in no account, of a route that is not for anyone. */
export function signedInPerson({ visit: { person } }: FastifyRequest): SignedInPerson {
  if (!person) throw new Error("This route is for anyone");
  return person;
}

/** Where who is signed in chooses an account. */
export const ACCOUNTS_PATH = "/portal/accounts";

/** Leads who is not signed in to the sign-in, and back to `next` from there; who is, but in no account, to their accounts. */
export function leadToSignIn({ visit }: FastifyRequest, reply: FastifyReply, next: string): FastifyReply {
  return reply.redirect(visit.person ? ACCOUNTS_PATH : signInPath(next), 303);
}

export function signInPath(next: string): string {
  return `/portal/sign-in?next=${encodeURIComponent(next)}`;
}

/** The browser and the anonymised address that somebody signs in with, to be shown. */
export function signInPlace({ headers, ip }: FastifyRequest): { browser: string; address: string } {
  const { browser, os } = agentOf(headers["user-agent"] ?? "");
  return { browser: `${browser?.name ?? UNKNOWN} on ${os?.name ?? UNKNOWN}`, address: anonymiseIp(ip) };
}
