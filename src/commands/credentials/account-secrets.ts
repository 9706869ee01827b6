// Names under which an account's secrets are kept, beyond those of its address and password.

import { KEY_USES } from "../../secrets/earlier-versions.ts";

/** A session of the portal; `sessionId` empty: what all of the account's sessions begin with. */
export function sessionSecret(accountId: string, sessionId: string): string {
  return `session/${accountId}/${sessionId}`;
}

/** A browser that signed in to the account before; `deviceId` empty: what all of the account's browsers begin with. */
export function deviceSecret(accountId: string, deviceId: string): string {
  return `device/${accountId}/${deviceId}`;
}

/** When an API key was last used; ISO 8601 UTC. */
export function keyUseSecret(keyId: string): string {
  return `${KEY_USES}${keyId}`;
}

/** That the account asked for the Developer plan; an object with `at`. */
export function upgradeRequestSecret(accountId: string): string {
  return `${UPGRADE_REQUESTS}${accountId}`;
}

export const UPGRADE_REQUESTS = "upgrade-request/";

/** What earlier versions kept until the last link of a closed account was gone. */
export function closingSecret(accountId: string): string {
  return `closing/${accountId}`;
}
