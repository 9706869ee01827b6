// The connection string that both clients are given, and the error for one that they refuse.

/** Options of both clients' connections, in lower case; they ignore case, `-` and `_`. */
const OPTIONS = new Set(
  "usercertfile userkeyfile maxdiscoverattempts connectionname defaultdeadline discoveryinterval gossiptimeout nodepreference tls tlsverifycert tlscafile keepaliveinterval keepalivetimeout".split(
    " ",
  ),
);

/**
 * With our own defaults, and without other options: the clients would ignore those that they don't have as well, but print
 * the whole string to say so, password included. Reads go to the leader, whatever the string says, as a follower may lag:
 * of several values the clients take the last.
 */
export function withDefaults(connectionString: string): string {
  const [, address = connectionString, query = ""] = /^(.*@[^?]*|[^?]*)\?(.*)$/.exec(connectionString) ?? [];
  const options = query.split("&").filter((option) => option !== "" && isKnown(option));
  return `${address}?${[...options, "nodePreference=leader"].join("&")}`;
}

/** What is not `name=value` stays, for the client to refuse. */
function isKnown(option: string): boolean {
  const [name = "", value] = option.split("=");
  return value === undefined || OPTIONS.has(name.toLowerCase().replace(/[\s_-]/g, ""));
}

/** Never repeats the string, for it may hold a password: of the clients' messages only those about files are kept. */
export function unreadable(error: unknown, example: string): Error {
  const reason =
    error instanceof Error && /certificate|userCertFile/.test(error.message) ? `: ${error.message}` : "";
  return new Error(`Not a connection string such as ${example}${reason}`);
}
