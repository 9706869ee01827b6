// The singleton job of the projector role that rechecks URLs which were accepted while Safe Browsing was unavailable.
import { recheckWaiting } from "../jobs/url-rechecks.ts";
import type { RoleContext } from "./role-context.ts";
import { startSingletonJob } from "./singleton-job.ts";
import type { Writing } from "./writing.ts";

/** Does nothing without Safe Browsing, as the local list of unsafe hosts is always available. */
export function openUrlRechecks(context: RoleContext, { links }: Writing): void {
  const { config, log, backend } = context;
  if (!config.safeBrowsingKey) return;
  const rechecks = { ...links, secrets: backend.secrets, log };
  startSingletonJob(context, {
    name: "url-rechecks",
    intervalMs: 60_000,
    run: (signal) => recheckWaiting(rechecks, signal),
    failureMessage: "rechecking the URLs of links failed",
  });
}
