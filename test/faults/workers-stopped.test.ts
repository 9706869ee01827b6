// `--workers 2` with batched clicks: whoever stops, and however the workers learn of it, no answered click is lost.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { reckonClicks } from "../support/redirect/reckon-clicks.ts";
import { type RedirectLoad, startRedirectLoad } from "../support/redirect/redirect-load.ts";
import { effort, isLong } from "../support/runtime/effort.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import {
  accountWithKeys,
  instanceOf,
  type ServiceProcess,
  startService,
} from "../support/service/service-process.ts";
import { allWorkersAnswer } from "../support/service/worker-service.ts";

const PER_SECOND = 600;

describe("workers under load", () => {
  let folder: TemporaryFolder;
  let service: ServiceProcess;
  let load: RedirectLoad;
  let port: number;
  let key: string;
  let logged: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
    const instance = await instanceOf(folder.path, { CLICK_DURABILITY: "batched", LOG_LEVEL: "info" });
    const { keys } = await accountWithKeys(instance, "free", 1);
    service = await startService(instance, { serve: ["--workers", "2"] });
    logged = "";
    service.child.stdout?.on("data", (chunk) => (logged += chunk));
    port = Number(instance.PORT);
    key = keys[0] ?? "";
    await allWorkersAnswer(port);
    const slug = await service.shorten(key);
    load = startRedirectLoad("stopped", service.url, [slug], PER_SECOND);
    await load.answeredMore(effort(200, 600));
  });
  afterEach(async () => {
    await Promise.all([service.stop("SIGKILL"), load.stop()]);
    await folder.remove();
  });

  const workers = () => {
    const printed = execFileSync("ps", ["-o", "pid=,args=", "--ppid", String(service.child.pid)]).toString();
    const lines = printed.split("\n").filter((line) => line.includes("worker.ts"));
    return lines.map((line) => Number.parseInt(line, 10));
  };
  const hasGone = (pid: number) => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  };
  async function answeredAndLost() {
    await load.stop();
    const store = await openSqliteEventStore(`${folder.path}/events.db`);
    const { lost, doubled } = await reckonClicks("workers stopped", [load], store).finally(() =>
      store.close(),
    );
    return { lost, doubled };
  }

  it.each(isLong ? (["SIGTERM", "SIGINT"] as const) : (["SIGTERM"] as const))(
    "commit every answered click when %s goes to the whole process group",
    async (signal) => {
      // The kernel sends it to each process of the group, in no order that it promises.
      for (const pid of [service.child.pid ?? 0, ...workers()]) process.kill(pid, signal);
      await once(service.child, "close");
      expect(service.child.exitCode).toBe(0);
      for (const what of ["stopping", "stopped"]) expect(logged.split(`"msg":"${what}"`)).toHaveLength(4);
      expect(await answeredAndLost()).toEqual({ lost: 0, doubled: 0 });
    },
  );

  it("commit every answered click, and end, when their primary is killed", async () => {
    const running = workers();
    expect(running).toHaveLength(3);
    await service.stop("SIGKILL");
    await until("the workers to end", () => running.every(hasGone));
    expect(await answeredAndLost()).toEqual({ lost: 0, doubled: 0 });
  });
});
