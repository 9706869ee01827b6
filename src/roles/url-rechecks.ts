// Asking again about unchecked links: part of the projector role, done by one process at a time.
import { recheckWaiting } from "../jobs/url-rechecks.ts";
import type { RoleContext } from "./role-context.ts";
import { startSingletonJob } from "./singleton-job.ts";
import type { Writing } from "./writing.ts";

/** Only Safe Browsing can be away, so without it there is nothing to ask again. */
export function openUrlRechecks(context: RoleContext, { links }: Writing): void {
  const { config, log, backend } = context;
  if (!config.safeBrowsingKey) return;
  const rechecks = { ...links, secrets: backend.secrets, log };
  startSingletonJob(context, {
    name: "url-rechecks",
    intervalMs: 60_000,
    turn: (signal) => recheckWaiting(rechecks, signal),
    failed: "asking again about unchecked links failed",
  });
}
