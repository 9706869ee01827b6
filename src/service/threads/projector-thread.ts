// The projector thread: runs each group of projections while it holds the group's lease, and seals the log.
import { randomUUID } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { keepSealing } from "../../audit/seals/keep-sealing.ts";
import { notedSeal } from "../../audit/seals/noted-seal.ts";
import { sealKeysFrom } from "../../audit/seals/seal-keys.ts";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import type { Config } from "../../config/config.ts";
import { ProjectionGroup } from "../../projections/builds/projection-group.ts";
import { type ProjectionGroupSpec, projectionGroups } from "../../projections/groups.ts";
import { catchUpWatch } from "../../projections/runner/catch-up-watch.ts";
import type {
  FromProjector,
  ProjectorThreadData,
  ToProjector,
} from "../../projections/runner/projector-messages.ts";
import type { ProjectionStatus } from "../../projections/runner/status.ts";
import { threadLog } from "../../runtime/threads/in-thread.ts";
import type { ThreadLog } from "../../runtime/threads/keep-thread.ts";
import { holdLease, JOB_LEASE, leaseHolder } from "../../stores/coordination/hold-lease.ts";
import { watchedLeases } from "../../stores/coordination/watched-leases.ts";
import { storesOf } from "../stores/backend.ts";

/** Besides, when it is asked. */
const REPORT_EVERY_MS = 5_000;

const parent = parentPort;
if (parent) {
  const { config } = workerData as ProjectorThreadData;
  await runProjector(config, (message) => parent.postMessage(message), parent);
}

async function runProjector(
  config: Config,
  post: (message: FromProjector | ThreadLog) => void,
  port: NonNullable<typeof parent>,
) {
  const stopping = new AbortController();
  const stores = storesOf(config, { offThread: false });
  const foldStore = await stores.foldStore();
  const leases = watchedLeases(await stores.leases(), () => performance.now());
  const eventStore = await stores.eventStore();
  const log = threadLog(post);
  const clock = () => new Date();
  const holder = leaseHolder(randomUUID);
  const open = ({ name, projections, ...commit }: ProjectionGroupSpec) => {
    return {
      lease: { leases, name: `projector ${name}`, holder, log },
      withProgress: catchUpWatch({ group: name, now: () => performance.now(), log }),
      group: new ProjectionGroup({
        ...{ eventStore, readStore: foldStore, projections, clock, log, ...commit },
        newId: randomUUID,
      }),
    };
  };
  const groups = projectionGroups.map(open);

  let isUnavailable = false;
  const report = async () => {
    let projections: ProjectionStatus[] | undefined;
    try {
      const statuses = [];
      for (const { group, withProgress } of groups) statuses.push(...withProgress(await group.status()));
      projections = statuses;
      isUnavailable = false;
    } catch (err) {
      // One log line per outage.
      if (!isUnavailable) log.warn({ err }, "projection status unavailable");
      isUnavailable = true;
    }
    post({ type: "status", projections, leaseProblem: leases.problem() });
  };
  // Only now, because the port keeps messages until it has a listener.
  port.on("message", (message: ToProjector) => {
    if (message.type === "stop") stopping.abort();
    else void report();
  });

  void report();
  const reporting = setInterval(report, REPORT_EVERY_MS);
  const keys = sealKeysFrom(config);
  const noted = notedSeal(foldStore);
  const sealing = { eventStore, keys, noted, clock, newId: runtimeDeps.newId, log };
  await Promise.all([
    // Here, as hashing ten thousand events takes a tenth of a second that no redirect may wait for.
    holdLease(
      { leases, name: "sealing", holder, log, ...JOB_LEASE },
      (signal) => keepSealing(sealing, signal),
      stopping.signal,
    ),
    ...groups.flatMap(({ lease, group }) => [
      holdLease(lease, (signal) => group.run(signal), stopping.signal),
      group.build(stopping.signal),
    ]),
  ]);
  clearInterval(reporting);
  await stores.close();
  port.close();
}
