// Who is signed in: a random token in a cookie, of which only the SHA-256 is kept; sessions end with the password.
import { createHash, randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { loadAccount } from "../../commands/account/account-stream.ts";
import { emailSecret } from "../../commands/account/open-account.ts";
import { sessionSecret } from "../../commands/credentials/account-secrets.ts";
import { passwordEpoch } from "../../commands/credentials/password.ts";
import type { EventStore } from "../../event-store/port.ts";
import type { Tier } from "../../events/vocabulary.ts";
import { type AccountDocument, accounts } from "../../projections/definitions/accounts.ts";
import type { ReadStore } from "../../read-store/port.ts";
import type { Secrets } from "../../secrets/port.ts";

/** Since it was last used. */
export const SESSION_DAYS = 30;
const DAY_MS = 86_400_000;
/** How exactly "last seen" is known: a session is written at most this often. */
const SEEN_EVERY_MS = 15 * 60_000;
const TOKEN = /^([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/;

export type SignedIn = { accountId: string; email: string; tier: Tier; sessionId: string };

/** What is kept of a session. `epoch`: the password it was opened under; `browser` and `place` are for its owner. */
export type SessionRecord = {
  createdAt: string;
  seenAt: string;
  epoch: string;
  browser: string;
  address: string;
};

export type SessionOfAccount = SessionRecord & { sessionId: string };

export type Sessions = ReturnType<typeof sessions>;

type Deps = { secrets: Secrets; eventStore: EventStore; readStore: ReadStore; clock: () => Date };

/** `sessionId` is the SHA-256 of the token, hex: it opens nothing. */
export function sessions(deps: Deps) {
  const { secrets, clock } = deps;

  const lasting = (value: SessionRecord) => ({
    value,
    expiresAt: new Date(clock().getTime() + SESSION_DAYS * DAY_MS).toISOString(),
  });

  return {
    /**
     * Always a new token, so that one planted before signing in opens nothing. `epoch`: of the password that was
     * proven; once it is another the session is void. Answers the cookie's value.
     */
    async open(
      accountId: string,
      epoch: string,
      from: { browser: string; address: string },
    ): Promise<string> {
      const token = randomBytes(32).toString("base64url");
      const now = clock().toISOString();
      const record = { createdAt: now, seenAt: now, epoch, ...from };
      await secrets.put(sessionSecret(accountId, hashToken(token)), lasting(record));
      return `${accountId}.${token}`;
    },

    /** Undefined for no, an unknown, an ended or an expired session, and for an account that is closed or closing. */
    async find(cookie: string | undefined): Promise<SignedIn | undefined> {
      const [, accountId = "", token = ""] = TOKEN.exec(cookie ?? "") ?? [];
      if (token === "") return undefined;
      const sessionId = hashToken(token);
      const now = clock();
      const [record, epoch, email, account] = await Promise.all([
        secrets.get(sessionSecret(accountId, sessionId), now) as Promise<SessionRecord | undefined>,
        passwordEpoch(secrets, accountId, now),
        secrets.get(emailSecret(accountId), now),
        accountAsItIs(deps, accountId),
      ]);
      if (!record || record.epoch !== epoch || account?.status !== "open") return undefined;
      // Closing erases the address, which shows here before any document says so.
      if (typeof email !== "string") return undefined;
      if (now.getTime() - Date.parse(record.seenAt) >= SEEN_EVERY_MS) {
        const seen = lasting({ ...record, seenAt: now.toISOString() });
        // It may have been signed out since it was read, and must not come back.
        if (!(await secrets.putIfPresent(sessionSecret(accountId, sessionId), seen, now))) return undefined;
      }
      return { accountId, email, tier: account.tier, sessionId };
    },

    /** Newest use first, without those that a change of password has ended. */
    async list(accountId: string): Promise<SessionOfAccount[]> {
      const epoch = await passwordEpoch(secrets, accountId, clock());
      const found = await secrets.list(sessionSecret(accountId, ""), clock());
      return found
        .map(({ key, value }) => ({ sessionId: key.split("/").at(-1) ?? "", ...(value as SessionRecord) }))
        .filter((session) => session.epoch === epoch)
        .sort((a, b) => b.seenAt.localeCompare(a.seenAt));
    },

    end(accountId: string, sessionId: string): Promise<void> {
      return secrets.delete(sessionSecret(accountId, sessionId));
    },

    /** `except`: the session that asks. */
    async endAll(accountId: string, except?: string): Promise<void> {
      for (const { key } of await secrets.list(sessionSecret(accountId, ""), clock()))
        if (key !== sessionSecret(accountId, except ?? "")) await secrets.delete(key);
    },
  };
}

/** Set by the portal's first hook for every request with a live session. @throws a plain Error without one */
export function signedIn(request: FastifyRequest): SignedIn {
  const { session } = request.visit;
  if (!session) throw new Error("This route needs requireSession");
  return session;
}

/** A preHandler: who isn't signed in is asked to, and comes back to where they wanted to go. */
export async function requireSession(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.visit.session) return;
  const next = request.method === "GET" ? `?next=${encodeURIComponent(request.url)}` : "";
  await reply.redirect(`/portal/sign-in${next}`, 303);
}

/** From its document, or from its own stream when it was opened a moment ago. */
async function accountAsItIs(
  { readStore, eventStore }: Pick<Deps, "readStore" | "eventStore">,
  accountId: string,
): Promise<{ status: string; tier: Tier } | undefined> {
  const found = await readStore.get<AccountDocument>(accounts.collection.name, accountId);
  if (found) return found;
  const account = await loadAccount(eventStore, accountId);
  return account.status === "open" ? account : undefined;
}

function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
