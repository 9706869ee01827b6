// The projector role in the background thread: folds each group of projections, and seals the log.
import { keepSealing } from "../../../audit/seals/keep-sealing.ts";
import { notedSeal } from "../../../audit/seals/noted-seal.ts";
import { sealKeysFrom } from "../../../audit/seals/seal-keys.ts";
import { runtimeDeps } from "../../../commands/runtime-deps.ts";
import type { Config } from "../../../config/config.ts";
import { GroupRun, leaseName } from "../../../projections/builds/run-group.ts";
import { type GroupStatus, groupStatus } from "../../../projections/builds/status.ts";
import { projectionGroups } from "../../../projections/groups.ts";
import type { BasicLogger } from "../../../runtime/logging.ts";
import { type HoldLeaseDeps, holdLease, JOB_LEASE } from "../../../stores/coordination/hold-lease.ts";
import type { EventStore } from "../../../stores/event-store/port.ts";
import type { SharedLog } from "../../../stores/event-store/shared-log.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";

type ProjectionsDeps = {
  config: Config;
  eventStore: EventStore & SharedLog;
  foldStore: ReadStore;
  log: BasicLogger;
};

export type Projections = {
  /** Until the signal aborts; then the log is sealed. What is not committed by then the next one folds again. */
  run(signal: AbortSignal): Promise<void>;
  /** Undefined while it can't be read. */
  status(): Promise<GroupStatus[] | undefined>;
};

export function projectionsOf(
  { config, eventStore, foldStore, log }: ProjectionsDeps,
  lease: Omit<HoldLeaseDeps, "name">,
): Projections {
  const { clock, newId } = runtimeDeps;
  const groups = projectionGroups.map((group) => ({
    name: leaseName(group),
    run: new GroupRun({ eventStore, readStore: foldStore, newId, log }, group),
    status: groupStatus({ eventStore, readStore: foldStore, clock }, group),
  }));
  const sealing = { eventStore, keys: sealKeysFrom(config), noted: notedSeal(foldStore), clock, newId, log };
  return {
    async run(signal) {
      await Promise.all([
        holdLease(
          { ...lease, ...JOB_LEASE, name: "sealing" },
          (until) => keepSealing(sealing, until),
          signal,
        ),
        ...groups.map(({ name, run }) => holdLease({ ...lease, name }, (until) => run.run(until), signal)),
      ]);
    },
    async status() {
      const statuses = groups.map(async ({ run, status }) => {
        const stored = await status();
        const { failure } = run;
        return { ...stored, processed: run.processed(stored), ...(failure !== undefined && { failure }) };
      });
      return await Promise.all(statuses).catch((err: unknown) => {
        log.warn({ err }, "projection status unavailable");
        return undefined;
      });
    },
  };
}
