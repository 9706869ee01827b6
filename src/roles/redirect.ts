// The redirect role: the link look-up and the click recorder.
import { randomBytes } from "node:crypto";
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { secretKeyOf } from "../config.ts";
import type { LogFollower } from "../coordination/log-follower.ts";
import { ClickRecorder } from "../redirect/clicks/click-recorder.ts";
import { geoOrNone } from "../redirect/clicks/enrich/geo.ts";
import { recorderThreadStarter } from "../redirect/clicks/start-recorder-thread.ts";
import type { RedirectDeps } from "../redirect/http/redirect-handler.ts";
import { LinkLookup } from "../redirect/lookup/lookup.ts";
import { visitReader } from "../redirect/rules/visit.ts";
import type { RoleContext } from "./role-context.ts";

export type RedirectRole = RedirectDeps & {
  lookup: LinkLookup;
  recorder: ClickRecorder;
};

export function openRedirect(
  { config, log, clock, backend, health, onStop }: RoleContext,
  follower: LogFollower,
): RedirectRole {
  const { baseHost, baseUrl } = config;
  const { eventStore, readStore } = backend;
  const { random } = runtimeDeps;
  const recorder = new ClickRecorder({
    durability: config.clickDurability,
    startThread: recorderThreadStarter(config, randomBytes(8).toString("hex")),
    random,
    health,
    log: (message, err) => (err ? log.warn({ err }, message) : log.warn(message)),
  });
  onStop((withinMs) => recorder.close(withinMs));
  const isFollowing = () => follower.isFollowing;
  const lookup = new LinkLookup({ eventStore, readStore, baseHost, isFollowing, random });
  follower.listen((event) => lookup.onEvent(event));
  const visitOf = visitReader({
    secretKey: secretKeyOf(config),
    openGeo: () => geoOrNone(config.geoipDb, (message, err) => log.warn({ err }, message)),
  });
  const stats = { found: 0, notFound: 0, disabled: 0, blocked: 0, expired: 0, error: 0 };
  return { lookup, recorder, visitOf, baseHost, baseUrl, now: () => clock().getTime(), stats };
}
