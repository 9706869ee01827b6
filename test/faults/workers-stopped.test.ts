// `--workers 2` with batched clicks: whoever stops, and however the workers learn of it, no answered click is lost.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteEventStore } from "../../src/event-store/sqlite/event-store.ts";
import { visitor } from "../support/portal/browser-like.ts";
import { reckonClicks } from "../support/redirect/reckon-clicks.ts";
import { type RedirectLoad, startRedirectLoad } from "../support/redirect/redirect-load.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import { send } from "../support/service/ask.ts";
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
    service = await startService(instance, [], undefined, ["--workers", "2"]);
    logged = "";
    service.child.stdout?.on("data", (chunk) => (logged += chunk));
    port = Number(instance.PORT);
    key = keys[0] ?? "";
    await allWorkersAnswer(port);
    const created = await send<{ slug: string }>(port, "/api/v1/shorten", {
      method: "POST",
      key,
      body: { url: "https://example.com/" },
    });
    load = startRedirectLoad("stopped", service.url, [created.body.slug], PER_SECOND);
    await load.answeredMore(600);
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

  it.each(["SIGTERM", "SIGINT"] as const)(
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

  /** A form that a worker has taken, without its body. */
  async function openForm() {
    const one = visitor(port);
    await one.submit("/portal/sign-up", { email: "someone@example.com", password: "seven brown foxes" });
    const form = { url: "https://example.com/late" };
    const body = new URLSearchParams(form).toString();
    const asking = request({
      ...{ host: "127.0.0.1", port, path: "/portal/links", method: "POST", agent: false },
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "content-length": body.length,
        cookie: [...one.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        expect: "100-continue",
      },
    });
    const answered = once(asking, "response");
    asking.flushHeaders();
    await once(asking, "continue");
    return async () => {
      asking.end(body);
      const [response] = await answered;
      return response.statusCode;
    };
  }
  const stopBegins = () => until("all workers to stop", () => logged.split('"msg":"stopping"').length === 4);

  it("answer a form whose change waits for the projector when all are stopped", async () => {
    const finish = await openForm();
    service.child.kill("SIGTERM");
    await stopBegins();
    expect(await finish()).toBe(303);
    await once(service.child, "close");
    expect(logged).not.toContain("closing failed");
  });

  it("go on with their stop when their primary is killed meanwhile", async () => {
    const finish = await openForm();
    service.child.kill("SIGTERM");
    await stopBegins();
    service.child.kill("SIGKILL");
    await once(service.child, "exit");
    expect(await finish()).toBe(303);
    await until("the workers to end", () => logged.split('"msg":"stopped"').length === 4);
    expect(logged).not.toContain("closing failed");
  });

  it("answer the requests that wait for their primary's count by a count of their own, when it is killed", async () => {
    service.child.kill("SIGSTOP");
    const asking = request({
      ...{ host: "127.0.0.1", port, path: "/api/v1/shorten", method: "POST", agent: false },
      headers: { "x-api-key": key, "content-type": "application/json", expect: "100-continue" },
    });
    const answered = once(asking, "response");
    asking.flushHeaders();
    // A worker has the request now, and can't know its window before the primary goes on.
    await once(asking, "continue");
    asking.end('{"url":"https://example.com/"}');
    await service.stop("SIGKILL");
    const [response] = await answered;
    expect([response.statusCode, response.headers["x-ratelimit-limit"]]).toEqual([201, "50"]);
    await until("the workers to end", () => logged.split('"msg":"stopped"').length === 4);
    expect(logged).not.toContain("closing failed");
  });
});
