// The connection string that both clients are given, and the error for one that they refuse.

/** Options that both clients have, in lower case; they ignore case, `-` and `_`. */
const OPTIONS = new Set(
  "usercertfile userkeyfile maxdiscoverattempts connectionname defaultdeadline discoveryinterval gossiptimeout nodepreference tls tlsverifycert tlscafile throwonappendfailure keepaliveinterval keepalivetimeout".split(
    " ",
  ),
);

/**
 * With our own defaults, and without options that the clients don't have: they would ignore those as well, but print
 * the whole string to say so, password included. Reads go to the leader: the clients' default may be any node of a
 * cluster, and a follower may lag. Of several values the clients take the last.
 * @throws Error for an option that would hide failed appends
 */
export function withDefaults(connectionString: string): string {
  // It makes a failed append look like a success with a revision made from a boolean.
  if (/throwOnAppendFailure=false/i.test(connectionString))
    throw new Error("The connection string must not set throwOnAppendFailure=false");
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
