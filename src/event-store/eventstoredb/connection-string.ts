// The connection string that both clients are given, and the error for one that they refuse.

/**
 * With our own defaults. Reads go to the leader: the clients' default may be any node of a cluster, and a follower may
 * lag. Of several values the clients take the last.
 * @throws Error for an option that would hide failed appends
 */
export function withDefaults(connectionString: string): string {
  // It makes a failed append look like a success with a revision made from a boolean.
  if (/throwOnAppendFailure=false/i.test(connectionString))
    throw new Error("The connection string must not set throwOnAppendFailure=false");
  return `${connectionString}${connectionString.includes("?") ? "&" : "?"}nodePreference=leader`;
}

/** Never repeats the string, for it may hold a password: of the clients' messages only those about files are kept. */
export function unreadable(error: unknown, example: string): Error {
  const reason =
    error instanceof Error && /certificate|userCertFile/.test(error.message) ? `: ${error.message}` : "";
  return new Error(`Not a connection string such as ${example}${reason}`);
}
