// The api role: the dependencies of the REST routes.
import { keyUsage } from "../api/authentication/key-usage.ts";
import type { ApiDeps } from "../app.ts";
import type { LogFollower } from "../coordination/log-follower.ts";
import { CallerLookup } from "../queries/find-caller.ts";
import type { RoleContext } from "./role-context.ts";
import type { Writing } from "./writing.ts";

export function openApi(
  { log, clock, backend }: RoleContext,
  { links, rateLimits, fresh }: Writing,
  follower: LogFollower,
): ApiDeps {
  const { eventStore, readStore, secrets } = backend;
  const usage = keyUsage({ secrets, clock, log });
  const callers = new CallerLookup({ eventStore, readStore, catchUp: () => follower.catchUp() });
  follower.listen((event) => callers.onEvent(event));
  return {
    keys: { clock, rateLimits, usage, findCaller: (keyHash) => callers.find(keyHash) },
    links,
    writesAreReadable: fresh.writesAreReadable,
  };
}
