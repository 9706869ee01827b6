// Which right on the server a refused call needs, and what an administrator sends to grant it.

/** What a call needs its user for; `$all` is the whole log. */
export type Right = { may: "read" | "write"; stream: string };

export const READ_LOG: Right = { may: "read", stream: "$all" };

const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

/** By gRPC's code of the refusal; undefined for one that has other causes. `user`: of the connection string. */
export function whatIsMissing(code: unknown, user: string | undefined, right: Right): string | undefined {
  if (code !== PERMISSION_DENIED && code !== UNAUTHENTICATED) return undefined;
  if (user === undefined) return "EVENTSTORE_URL names no user, such as esdb://USER:PASSWORD@host:2113";
  const named = JSON.stringify(user);
  if (code === UNAUTHENTICATED)
    return `the server doesn't know the user ${named} of EVENTSTORE_URL by this password, or has disabled it`;
  const { may, stream } = right;
  if (stream !== READ_LOG.stream)
    return `the user ${named} may not ${may} the stream ${stream}: an administrator's default rights ($userStreamAcl in the stream $settings) or the stream's own must let it`;
  return `the user ${named} may not read $all: an administrator grants it by setStreamMetadata("$all", { acl: { readRoles: ["$admins", ${named}] } })`;
}
