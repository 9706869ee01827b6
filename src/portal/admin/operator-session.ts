// Sessions of the console: a random token in a cookie, of which only the SHA-256 is stored; void when ADMIN_TOKEN changes.
import { hash, randomBytes } from "node:crypto";
import type { Secrets } from "../../secrets/port.ts";
import type { SignedInOperator } from "../shell/visit.ts";

/** Counted from the sign-in. */
const SESSION_HOURS = 12;
const HOUR_MS = 3_600_000;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** `epoch`: of the ADMIN_TOKEN at the sign-in. */
type OperatorRecord = { createdAt: string; epoch: string };

export type OperatorSessions = ReturnType<typeof operatorSessions>;

export function operatorSessions(deps: { secrets: Secrets; clock: () => Date; adminToken: string }) {
  const { secrets, clock } = deps;
  const epoch = hash("sha256", `epoch of ${deps.adminToken}`);
  return {
    /** Returns the cookie's value: always a new one, which prevents session fixation. */
    async open(): Promise<string> {
      const token = randomBytes(32).toString("base64url");
      const now = clock();
      const value: OperatorRecord = { createdAt: now.toISOString(), epoch };
      const expiresAt = new Date(now.getTime() + SESSION_HOURS * HOUR_MS).toISOString();
      await secrets.put(keyOf(hash("sha256", token)), { value, expiresAt });
      return token;
    },

    /** Undefined for a missing, unknown, ended or expired session. */
    async find(cookie: string | undefined): Promise<SignedInOperator | undefined> {
      if (cookie === undefined || !TOKEN.test(cookie)) return undefined;
      const sessionId = hash("sha256", cookie);
      const record = (await secrets.get(keyOf(sessionId), clock())) as OperatorRecord | undefined;
      return record?.epoch === epoch ? { sessionId, isToken: false } : undefined;
    },

    end(sessionId: string): Promise<void> {
      return secrets.delete(keyOf(sessionId));
    },
  };
}

function keyOf(sessionId: string): string {
  return `operator-session/${sessionId}`;
}
