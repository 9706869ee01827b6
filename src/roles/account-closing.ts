// The singleton job of the projector role that deletes the links of closed accounts.
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { accountClosings } from "../jobs/account-closing.ts";
import { links } from "../projections/definitions/links.ts";
import { checkpointName } from "../projections/projection.ts";
import { whenProjected } from "../queries/read-your-writes.ts";
import type { RoleContext } from "./role-context.ts";
import { startSingletonJob } from "./singleton-job.ts";

/** How long a run waits for the links projection; afterwards the next run continues. */
const MAX_WAIT_MS = 5_000;

export function openAccountClosing(context: RoleContext): void {
  const { log, clock, backend } = context;
  const { eventStore, readStore, secrets } = backend;
  const { newId, random, sleep } = runtimeDeps;
  startSingletonJob(context, {
    name: "account-closing",
    intervalMs: 5_000,
    run: accountClosings({
      ...{ eventStore, readStore, secrets, clock, newId, random, sleep, log },
      isShown: (position) =>
        whenProjected({ readStore, sleep }, [checkpointName(links)], position, () => MAX_WAIT_MS),
    }),
    failureMessage: "looking for closed accounts failed",
  });
}
