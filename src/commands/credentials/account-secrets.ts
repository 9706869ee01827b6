// Names of an account's secrets, other than its address (open-account.ts) and password (password.ts).

/** A portal session; with an empty `sessionId`, the prefix of all of the account's sessions. */
export function sessionSecret(accountId: string, sessionId: string): string {
  return `session/${accountId}/${sessionId}`;
}

/** A browser that signed in to the account before; with an empty `deviceId`, the prefix of all of them. */
export function deviceSecret(accountId: string, deviceId: string): string {
  return `device/${accountId}/${deviceId}`;
}

/** When an API key was last used; ISO 8601 UTC. */
export function keyUseSecret(keyId: string): string {
  return `key-used/${keyId}`;
}

/** A pending request for the Developer plan; an object with `at`. */
export function upgradeRequestSecret(accountId: string): string {
  return `${UPGRADE_REQUESTS}${accountId}`;
}

export const UPGRADE_REQUESTS = "upgrade-request/";
