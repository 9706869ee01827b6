// The projector thread: runs each group of projections while it holds the group's lease, and seals the log.
import { randomUUID } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { keepSealing } from "../../audit/seals/keep-sealing.ts";
import { notedSeal } from "../../audit/seals/noted-seal.ts";
import { sealKeysFrom } from "../../audit/seals/seal-keys.ts";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import type { Config } from "../../config/config.ts";
import { GroupRun, leaseName } from "../../projections/builds/run-group.ts";
import { type GroupStatus, groupStatus } from "../../projections/builds/status.ts";
import { projectionGroups } from "../../projections/groups.ts";
import { threadLog } from "../../runtime/threads/in-thread.ts";
import type { ThreadLog } from "../../runtime/threads/keep-thread.ts";
import { holdLease, JOB_LEASE, leaseHolder } from "../../stores/coordination/hold-lease.ts";
import { watchedLeases } from "../../stores/coordination/watched-leases.ts";
import { storesOf } from "../stores/backend.ts";
import type { FromProjector, ProjectorThreadData, ToProjector } from "./projector-messages.ts";

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
  const groups = projectionGroups.map((group) => ({
    lease: { leases, name: leaseName(group), holder, log },
    run: new GroupRun({ eventStore, readStore: foldStore, newId: randomUUID, log }, group),
    status: groupStatus({ eventStore, readStore: foldStore, clock }, group),
  }));

  let isUnavailable = false;
  const report = async () => {
    let projections: GroupStatus[] | undefined;
    try {
      const statuses: GroupStatus[] = [];
      for (const { run, status } of groups) {
        const found = await status();
        const { failure } = run;
        const processed = run.processed(found);
        statuses.push({ ...found, processed, ...(failure !== undefined && { failure }) });
      }
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
    ...groups.map(({ lease, run }) => holdLease(lease, (signal) => run.run(signal), stopping.signal)),
  ]);
  clearInterval(reporting);
  await stores.close();
  port.close();
}
