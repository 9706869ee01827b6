// The api role: the dependencies of the REST routes.
import type { ApiDeps } from "../../api/api-routes.ts";
import { smtpMailer } from "../../commands/mail/mailer.ts";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { CallerLookup } from "../../queries/find-caller.ts";
import type { LogFollower } from "../../stores/coordination/log-follower.ts";
import { drawQrIn } from "../threads/reader.ts";
import type { RoleContext } from "./role-context.ts";
import type { Writing } from "./writing.ts";

export function openApi(
  { config, log, clock, backend, counts, rateLimits, threads, onStop }: RoleContext,
  { accounts, links, fresh, logReader }: Writing,
  follower: LogFollower,
): ApiDeps {
  const { eventStore, readStore, secrets } = backend;
  const callers = new CallerLookup({
    eventStore,
    readStore,
    knownAccount: accounts.known,
    catchUp: () => follower.catchUp(),
  });
  follower.listen((event) => callers.onEvent(event));
  const mailer = smtpMailer(config);
  onStop(async () => mailer?.close());
  return {
    ...runtimeDeps,
    config,
    backend,
    counts,
    clock,
    log,
    mailer,
    logReader,
    keys: {
      clock,
      rateLimits,
      secrets,
      log,
      limits: config.limits,
      findCaller: (keyHash) => callers.find(keyHash),
    },
    onCallersChanged: (listener) => callers.onChange(listener),
    links,
    drawQr: drawQrIn(threads.reader),
    writesAreReadable: fresh.writesAreReadable,
    changesAreFollowed: fresh.changesAreFollowed,
  };
}
