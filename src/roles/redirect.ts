// The redirect role: look-up, recorder, and what keeps the look-up true.
import { randomBytes } from "node:crypto";
import { chance } from "../commands/chance.ts";
import { ClickRecorder, recorderThreadStarter } from "../redirect/click-recorder.ts";
import { runInvalidator } from "../redirect/invalidator.ts";
import { LinkLookup } from "../redirect/lookup.ts";
import type { RedirectDeps } from "../redirect/route.ts";
import type { Opening } from "./opening.ts";

export type RedirectRole = RedirectDeps & { lookup: LinkLookup; recorder: ClickRecorder };

export function openRedirect({ config, log, clock, backend, onStop }: Opening): RedirectRole {
  const { baseHost } = config;
  const { eventStore, readStore } = backend;
  const { random } = chance;
  const recorder = new ClickRecorder({
    durability: config.clickDurability,
    startThread: recorderThreadStarter(config, randomBytes(8).toString("hex")),
    random,
    log: (message) => log.warn(message),
  });
  onStop(() => recorder.close());
  const lookup = new LinkLookup({ eventStore, readStore, baseHost });
  const ended = new AbortController();
  const warn = (message: string) => log.warn(message);
  const following = runInvalidator({ eventStore, readStore, lookup, random, log: warn }, ended.signal);
  onStop(() => {
    ended.abort();
    return following;
  });
  const stats = { found: 0, notFound: 0, disabled: 0, error: 0 };
  return { lookup, recorder, baseHost, now: () => clock().getTime(), stats };
}
