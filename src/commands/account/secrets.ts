// What is kept of an account outside of its stream: the names of these secrets. What is of its members: people/secrets.ts.

/** The address that somebody is invited by, and the SHA-256 of the newest link's token. */
export const invitationSecret = (invitationId: string) => `invitation/${invitationId}`;

/** When an API key was last used; ISO 8601 UTC. */
export const keyUseSecret = (keyId: string) => `key-used/${keyId}`;

/** A pending request for the Developer plan; an object with `at`. */
export const upgradeRequestSecret = (accountId: string) => `${UPGRADE_REQUESTS}${accountId}`;

export const UPGRADE_REQUESTS = "upgrade-request/";
