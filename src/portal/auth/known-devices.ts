// Device cookies (OWASP): a browser that signed in to an account before has its own limit of attempts, so that
// attackers elsewhere can't lock it out.
import { hash, randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { accountWithEmail } from "../../commands/account/email.ts";
import { deviceSecret } from "../../commands/account/secrets.ts";
import type { Secrets } from "../../secrets/port.ts";

/** Expiry, counted from the last sign-in. */
export const DEVICE_DAYS = 365;
const DAY_MS = 86_400_000;
const MOST_DEVICES = 20;

export type KnownDevices = ReturnType<typeof knownDevices>;

/** Stored under the SHA-256 of the cookie's token. `at`: time of the sign-in, ISO 8601 UTC. */
type DeviceRecord = { at: string };

export function knownDevices(deps: { secrets: Secrets; clock: () => Date }) {
  const { secrets, clock } = deps;

  return {
    /**
     * Called after a sign-in; returns the cookie's value. `previous`: the browser's cookie before, which becomes void.
     * Always a new token, so that a planted cookie is worthless and the limit of attempts starts anew. Keeps the newest
     * MOST_DEVICES of an account.
     */
    async issue(accountId: string, previous: string | undefined): Promise<string> {
      if (previous !== undefined) await secrets.delete(deviceSecret(accountId, hash("sha256", previous)));
      const token = randomBytes(32).toString("base64url");
      const now = clock();
      const value: DeviceRecord = { at: now.toISOString() };
      const expiresAt = new Date(now.getTime() + DEVICE_DAYS * DAY_MS).toISOString();
      await secrets.put(deviceSecret(accountId, hash("sha256", token)), { value, expiresAt });
      const known = await secrets.list(deviceSecret(accountId, ""), now);
      const oldestFirst = known.sort((a, b) => atOf(a.value).localeCompare(atOf(b.value)));
      for (const { key } of oldestFirst.slice(0, -MOST_DEVICES)) await secrets.delete(key);
      return token;
    },

    /** The device id, if the request's browser has signed in to the account with this address before. */
    async recognise(request: FastifyRequest, email: string): Promise<string | undefined> {
      const holder = await accountWithEmail(deps, email);
      const token = holder && request.cookies[request.visit.cookies.device(holder.accountId)];
      if (!token) return undefined;
      const deviceId = hash("sha256", token);
      const known = await secrets.get(deviceSecret(holder.accountId, deviceId), clock());
      return known === undefined ? undefined : deviceId;
    },

    async forgetAll(accountId: string): Promise<void> {
      for (const { key } of await secrets.list(deviceSecret(accountId, ""), clock()))
        await secrets.delete(key);
    },
  };
}

function atOf(value: unknown): string {
  return (value as DeviceRecord).at;
}
