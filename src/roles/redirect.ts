// The redirect role: look-up, recorder, and what both hear of changes.
import { randomBytes } from "node:crypto";
import { chance } from "../commands/chance.ts";
import { ClickRecorder } from "../redirect/click-recorder.ts";
import { LinkLookup } from "../redirect/lookup.ts";
import type { RedirectDeps } from "../redirect/route.ts";
import type { SharedLinks } from "../redirect/shared-links.ts";
import { recorderThreadStarter } from "../redirect/start-recorder-thread.ts";
import type { HeardChanges } from "./changes.ts";
import type { Opening } from "./opening.ts";

export type RedirectRole = RedirectDeps & {
  lookup: LinkLookup;
  recorder: ClickRecorder;
  changes: HeardChanges;
};

export function openRedirect(
  { config, log, clock, backend, onStop }: Opening,
  shared: SharedLinks | undefined,
): RedirectRole {
  const { baseHost } = config;
  const { eventStore, readStore } = backend;
  const recorder = new ClickRecorder({
    durability: config.clickDurability,
    startThread: recorderThreadStarter(config, randomBytes(8).toString("hex")),
    random: chance.random,
    log: (message, err) => (err ? log.warn({ err }, message) : log.warn(message)),
  });
  onStop(() => recorder.close());
  const lookup = new LinkLookup({ eventStore, readStore, baseHost, shared });
  const stats = { found: 0, notFound: 0, disabled: 0, error: 0 };
  const changes: HeardChanges = {
    events: {
      link(key, revision) {
        lookup.outdate(key, revision);
        // Nothing can be older than a link's first event.
        if (revision > 0) shared?.outdate(key, revision);
      },
      domain: (change) => lookup.domains.hear(change),
    },
    news({ topic, id, revision }) {
      if (topic === "link") lookup.outdate(id, revision);
      if (topic === "domain") lookup.domains.close(id);
    },
  };
  return { lookup, recorder, baseHost, now: () => clock().getTime(), stats, changes };
}
