// Portal sessions: a random token in a cookie, of which only the SHA-256 is stored; void after a change of password.
import { hash, randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { loadAccount } from "../../commands/account/accounts.ts";
import { passwordEpoch } from "../../commands/account/password.ts";
import { emailSecret, sessionSecret } from "../../commands/account/secrets.ts";
import { agentOf } from "../../events/classification/user-agent.ts";
import { type Tier, UNKNOWN } from "../../events/vocabulary.ts";
import { orNotBuilt } from "../../projections/builds/errors.ts";
import { type AccountDocument, accounts } from "../../projections/definitions/accounts.ts";
import { anonymiseIp } from "../../redirect/clicks/enrich/anonymise-ip.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";

/** Expiry, counted from the last use. */
const SESSION_DAYS = 30;
const DAY_MS = 86_400_000;
/** Resolution of `seenAt`: a session in use is written at most this often. */
const SEEN_EVERY_MS = 15 * 60_000;
const TOKEN = /^([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/;

/** `timeZone`: chosen for the account's numbers; null for that of the browser. */
export type SignedIn = {
  accountId: string;
  email: string;
  tier: Tier;
  timeZone: string | null;
  sessionId: string;
};

/** `epoch`: that of the password at sign-in. `browser`, `address` (anonymised): shown to the account's owner. */
type SessionRecord = { createdAt: string; seenAt: string; epoch: string; browser: string; address: string };

export type SessionOfAccount = SessionRecord & { sessionId: string };
export type Sessions = ReturnType<typeof sessions>;

type Deps = { secrets: Secrets; eventStore: EventStore; readStore: ReadStore; clock: () => Date };

/** `sessionId` is the SHA-256 of the token in hex, so it can be shown and can't be used as a cookie. */
export function sessions(deps: Deps) {
  const { secrets, clock } = deps;

  const lasting = (value: SessionRecord) => ({
    value,
    expiresAt: new Date(clock().getTime() + SESSION_DAYS * DAY_MS).toISOString(),
  });

  return {
    /**
     * Returns the cookie's value. Always a new token, which prevents session fixation. `epoch`: that of the verified
     * password; the session is void once the password's epoch differs.
     */
    async open(accountId: string, epoch: string, from: ReturnType<typeof signInPlace>): Promise<string> {
      const token = randomBytes(32).toString("base64url");
      const now = clock().toISOString();
      const record = { createdAt: now, seenAt: now, epoch, ...from };
      await secrets.put(sessionSecret(accountId, hash("sha256", token)), lasting(record));
      return `${accountId}.${token}`;
    },

    /** Undefined for a missing, unknown, ended or expired session, and for a closed account. */
    async find(cookie: string | undefined): Promise<SignedIn | undefined> {
      const [, accountId = "", token = ""] = TOKEN.exec(cookie ?? "") ?? [];
      if (token === "") return undefined;
      const sessionId = hash("sha256", token);
      const now = clock();
      const [record, epoch, email, account] = await Promise.all([
        secrets.get(sessionSecret(accountId, sessionId), now) as Promise<SessionRecord | undefined>,
        passwordEpoch(secrets, accountId, now),
        secrets.get(emailSecret(accountId), now),
        currentAccount(deps, accountId),
      ]);
      if (!record || record.epoch !== epoch || account?.status !== "open") return undefined;
      // Closing erases the address, which is visible before the account's document is projected.
      if (typeof email !== "string") return undefined;
      if (now.getTime() - Date.parse(record.seenAt) >= SEEN_EVERY_MS) {
        const seen = lasting({ ...record, seenAt: now.toISOString() });
        // A sign-out since the read above must not be undone by this write.
        if (!(await secrets.putIfPresent(sessionSecret(accountId, sessionId), seen, now))) return undefined;
      }
      return { accountId, email, tier: account.tier, timeZone: account.timeZone, sessionId };
    },

    /** Most recently used first, without those that a change of password made void. */
    async list(accountId: string): Promise<SessionOfAccount[]> {
      const epoch = await passwordEpoch(secrets, accountId, clock());
      const stored = await secrets.list(sessionSecret(accountId, ""), clock());
      return stored
        .map(({ key, value }) => ({ sessionId: key.split("/").at(-1) ?? "", ...(value as SessionRecord) }))
        .filter((session) => session.epoch === epoch)
        .sort((a, b) => b.seenAt.localeCompare(a.seenAt));
    },

    end: (accountId: string, sessionId: string) => secrets.delete(sessionSecret(accountId, sessionId)),
    endAll: (accountId: string) => deleteSecrets(deps, sessionSecret(accountId, "")),
  };
}

/** All whose names begin with `prefix`. */
export async function deleteSecrets(
  { secrets, clock }: Pick<Deps, "secrets" | "clock">,
  prefix: string,
): Promise<void> {
  for (const { key } of await secrets.list(prefix, clock())) await secrets.delete(key);
}

/** The session of a route behind `requireSession`. */
export function signedIn(request: FastifyRequest): SignedIn {
  const { session } = request.visit;
  if (!session) throw new Error("This route needs requireSession");
  return session;
}

/** preHandler: redirects to sign-in without a session; a GET returns to this page afterwards. */
export async function requireSession(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.visit.session) return;
  const next = request.method === "GET" ? `?next=${encodeURIComponent(request.url)}` : "";
  await reply.redirect(`/portal/sign-in${next}`, 303);
}

/** The browser and the anonymised address that somebody signs in with, to be shown. */
export function signInPlace({ headers, ip }: FastifyRequest): { browser: string; address: string } {
  const { browser, os } = agentOf(headers["user-agent"] ?? "");
  return { browser: `${browser?.name ?? UNKNOWN} on ${os?.name ?? UNKNOWN}`, address: anonymiseIp(ip) };
}

/** The account's document, or its stream when it is not projected yet. */
async function currentAccount(
  { readStore, eventStore }: Pick<Deps, "readStore" | "eventStore">,
  accountId: string,
): Promise<Pick<AccountDocument, "status" | "tier" | "timeZone"> | undefined> {
  const document = await orNotBuilt(readStore.get<AccountDocument>(accounts.collection.name, accountId));
  if (document) return document;
  const account = await loadAccount(eventStore, accountId);
  return account.status === "open" ? account : undefined;
}
