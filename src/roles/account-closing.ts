// Deleting the links of closed accounts: part of the projector role, done by one process at a time.
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { accountClosings } from "../jobs/account-closing.ts";
import { links } from "../projections/definitions/links.ts";
import { checkpointName } from "../projections/projection.ts";
import { whenProjected } from "../queries/freshness.ts";
import type { RoleContext } from "./role-context.ts";
import { startSingletonJob } from "./singleton-job.ts";

/** How long documents are waited for before the next turn looks again. */
const LONGEST_WAIT_MS = 5_000;

export function openAccountClosing(context: RoleContext): void {
  const { log, clock, backend } = context;
  const { eventStore, readStore, secrets } = backend;
  const { newId, random, sleep } = runtimeDeps;
  startSingletonJob(context, {
    name: "account-closing",
    intervalMs: 5_000,
    turn: accountClosings({
      ...{ eventStore, readStore, secrets, clock, newId, random, sleep, log },
      isShown: (position) =>
        whenProjected({ readStore, sleep }, [checkpointName(links)], position, LONGEST_WAIT_MS),
    }),
    failed: "looking for closed accounts failed",
  });
}
