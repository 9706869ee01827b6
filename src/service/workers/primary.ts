// The primary process of `--workers N`: starts the processes that do the work, starts them again when they end, and passes
// on what one of them asks of the others. It does nothing else, so that it has no reason to fail.
import cluster, { type Worker } from "node:cluster";
import { fileURLToPath } from "node:url";
import { AggregatorRegistry, Gauge } from "prom-client";
import type { Config } from "../../config/config.ts";
import { Failure } from "../../runtime/errors.ts";
import { keepRunning } from "../../runtime/keep-trying.ts";
import type { Logger } from "../../runtime/logging.ts";
import { inTime } from "../../runtime/pause.ts";
import { stopGracefully } from "../../runtime/stop/stop-gracefully.ts";
import { answersHttp, BACKGROUND_ROLES, type ProcessRole, type Roles } from "../roles/role.ts";
import { type ProcessCalls, processCalls } from "./process-calls.ts";

export type PrimaryDeps = { config: Config; roles: Roles; workers: number; log: Logger };

/**
 * `takesCommands`: those of the operator, which are given beside the service. `worker` and `calls`: of its present process, if there is one; `isReady`: it answers. `ended`: resolves when it has ended
 * for good.
 */
type Member = {
  id: string;
  roles: readonly ProcessRole[];
  takesCommands: boolean;
  isReady: boolean;
  ended?: Promise<void>;
  worker?: Worker;
  calls?: ProcessCalls;
};

const WORKER = fileURLToPath(new URL("./worker.ts", import.meta.url));
const RESTART = { fromMs: 100, toMs: 5_000, random: Math.random };
/** Below Prometheus's default scrape timeout of ten seconds. */
const METRICS_TIMEOUT_MS = 3_000;
/** A change is answered then at the latest, though a worker that hangs has not followed it. */
const FOLLOWED_WITHIN_MS = 1_000;
/** After the stop's budget, a worker is killed. */
const KILL_AFTER_MS = 1_000;

/**
 * Resolves when all workers answer. HTTP is answered by as many processes as `workers` says; the other roles are in one
 * more process, so that there is one projector whatever the number of workers.
 * @throws Failure when a worker ends before it answers
 */
export async function startWorkers({ config, roles, workers, log }: PrimaryDeps): Promise<void> {
  // Each worker accepts connections from the port itself. Passed on by the primary, those in flight to a worker that is
  // killed would stay open without an answer.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const members = membersOf(roles, workers);
  const stopping = new AbortController();
  const start = (member: Member) =>
    keepMember(member, methodsFor(member, members), { log, signal: stopping.signal });
  const startAll = async (some: readonly Member[]) => void (await Promise.all(some.map(start)));
  const stop = async () => {
    stopping.abort();
    const killing = setTimeout(
      () => {
        for (const { worker } of members) worker?.process.kill("SIGKILL");
      },
      config.stopSeconds * 1_000 + KILL_AFTER_MS,
    );
    // All at once, as each has the same time. The one in the background seals what the others have appended.
    callAll(members, "stop");
    await endOf(members.filter((member) => !isInBackground(member)));
    callAll(members, "othersEnded");
    await endOf(members);
    clearTimeout(killing);
  };
  const ms = config.stopSeconds * 1_000 + 2 * KILL_AFTER_MS;
  // After a failed start nothing keeps this process, and it would end with 0 instead of the exit code of the failure.
  stopGracefully({ ms, skip: ["beforeExit"] }, async ({ signal, err }) => {
    if (err) log.fatal({ err }, "stopping all workers after an error that nothing caught");
    else log.info({ signal }, "stopping all workers");
    await stop();
  });
  try {
    const http = members.filter((member) => !isInBackground(member));
    // It creates the files, and what the others answer is sealed whenever they are stopped.
    await startAll(members.filter(isInBackground));
    // The first one alone: it says once what is wrong with a setting.
    await startAll(http.slice(0, 1));
    await startAll(http.slice(1));
  } catch (error) {
    // Workers that end because of a stop have not failed, and the stop ends this process.
    if (stopping.signal.aborted) return;
    await stop();
    throw error;
  }
  log.info(`${workers} workers`);
}

/** Workers ignore signals, which they get from the process group as well. A call rejects when the worker ends first. */
function callAll(members: readonly Member[], method: "stop" | "othersEnded"): void {
  for (const { calls } of members) calls?.call(method).catch(() => undefined);
}

async function endOf(members: readonly Member[]): Promise<void> {
  await Promise.all(members.map(({ ended }) => ended));
}

function isInBackground({ roles }: Member): boolean {
  return !answersHttp(new Set(roles));
}

function membersOf(roles: Roles, workers: number): Member[] {
  const background = [...roles].filter((role) => BACKGROUND_ROLES.has(role));
  const http = [...roles].filter((role) => !BACKGROUND_ROLES.has(role));
  const works = Array.from({ length: workers }, (_, n) => ({ id: String(n + 1), roles: http }));
  if (background.length > 0) works.push({ id: "background", roles: background });
  return works.map((work, n) => ({ ...work, takesCommands: n === works.length - 1, isReady: false }));
}

/** What the worker of `caller` calls: everybody's metrics, and that the others go by what it has just changed. */
function methodsFor(caller: Member, members: readonly Member[]) {
  return {
    async follow() {
      const others = members.filter(
        (member) => member !== caller && member.isReady && !isInBackground(member),
      );
      // One that has ended follows from its start on.
      await inTime(FOLLOWED_WITHIN_MS, Promise.allSettled(others.map(({ calls }) => calls?.call("follow"))));
    },
    async metrics() {
      // Without those of a worker that fails or takes too long.
      const texts = members.map(
        ({ calls }) =>
          calls &&
          inTime(
            METRICS_TIMEOUT_MS,
            calls.call("metrics").catch(() => undefined),
          ),
      );
      const answers = (await Promise.all(texts)).filter((answer) => answer !== undefined);
      const all = AggregatorRegistry.aggregate(answers as object[]);
      const help = "Processes of --workers that answer, the one in the background counted";
      const workers = new Gauge({ name: "linkledger_workers", help, registers: [all] });
      workers.set(members.filter(({ isReady }) => isReady).length);
      return await all.metrics();
    },
  };
}

/** Rejects when the worker ends before it has answered for the first time; later it is started again. */
function keepMember(
  member: Member,
  methods: ReturnType<typeof methodsFor>,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<void> {
  const first = Promise.withResolvers<void>();
  const runOnce = async () => {
    cluster.setupPrimary({
      exec: WORKER,
      args: [member.id, member.roles.join(), member.takesCommands ? "commands" : ""],
    });
    const worker = cluster.fork();
    const ready = async () => {
      member.isReady = true;
      first.resolve();
    };
    const calls = processCalls(channelTo(worker), { ...methods, ready });
    Object.assign(member, { worker, calls });
    const how = await new Promise<object>((resolve) => {
      worker.once("exit", (code: number, by: string) => resolve({ code, signal: by }));
      // There is no exit when the process could not be created.
      worker.on("error", (err) => resolve({ err }));
    });
    member.isReady = false;
    delete member.worker;
    delete member.calls;
    calls.end();
    first.reject(new Failure(`worker ${member.id} has ended before it answered`));
    if (!signal.aborted) log.error(how, `worker ${member.id} ended`);
  };
  member.ended = keepRunning(RESTART, runOnce, signal);
  return first.promise;
}

/** Messages to a worker that has gone are dropped: its exit rejects the calls. */
function channelTo(worker: Worker): Parameters<typeof processCalls>[0] {
  return {
    send: (messages) => void (worker.isConnected() && worker.send(messages, () => undefined)),
    onMessage: (receive) => void worker.on("message", receive),
  };
}
