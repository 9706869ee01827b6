// A service that starts on damaged files of its data folder: goes on without what can be made again, refuses what can't.
import { readFile, writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { until } from "../support/runtime/until.ts";
import { instanceOfSuite } from "../support/service/instance-of-suite.ts";
import { accountWithKeys, startService } from "../support/service/service-process.ts";

describe("a service on damaged files", { timeout: 120_000 }, () => {
  const instance = instanceOfSuite();
  let key: string;
  beforeAll(async () => {
    key = (await accountWithKeys(instance, "developer", 1)).keys[0] as string;
    const service = await startService(instance);
    await ask(service.url);
    await service.stop();
  }, 120_000);

  const ask = (url: string) => fetch(`${url}/api/v1/links`, { headers: { "x-api-key": key } });
  const fileOf = (name: string) => `${instance.DATA_DIR}/${name}`;
  /** Each with its first page zeroed. */
  async function damage(...names: string[]): Promise<() => Promise<void>> {
    const files = names.map(fileOf);
    const before = await Promise.all(files.map((file) => readFile(file)));
    for (const [n, file] of files.entries())
      await writeFile(file, Buffer.from(before[n] as Buffer).fill(0, 0, 4_096));
    return async () => {
      for (const [n, file] of files.entries()) await writeFile(file, before[n] as Buffer);
    };
  }

  async function namesDeliveries(url: string, part: string): Promise<void> {
    const isNamed = async () => {
      const ready = await fetch(`${url}/health/ready`);
      const { degraded = [] } = (await ready.json()) as { degraded?: { part: string; reason: string }[] };
      const named = degraded.filter(({ reason }) => reason.includes("deliveries.db"));
      return ready.status === 200 && named.some((one) => one.part === part);
    };
    await until("the file's name", isNamed, { withinMs: 5_000 });
  }

  it("starts without its limits and documents, and makes them again", async () => {
    await damage("limits.db", "read.db");
    const service = await startService(instance);
    onTestFinished(() => service.stop("SIGKILL"));
    expect((await ask(service.url)).status).toBe(200);
    await service.stop();
  });

  it("goes on without its webhooks beside a damaged queue of deliveries, and names it", async () => {
    const restore = await damage("deliveries.db");
    const service = await startService(instance);
    onTestFinished(() => service.stop("SIGKILL"));
    const slug = await service.shorten(key);
    expect(await (await ask(service.url)).text()).toContain(slug);
    await namesDeliveries(service.url, "webhooks");
    await service.stop();
    await restore();
  });

  it("names the queue of deliveries that is damaged while it runs", async () => {
    const service = await startService(instance);
    onTestFinished(() => service.stop("SIGKILL"));
    const files = ["", "-wal", "-shm"].map((end) => fileOf(`deliveries.db${end}`));
    const before = await Promise.all(files.map((file) => readFile(file)));
    for (const [n, file] of files.entries())
      await writeFile(file, Buffer.alloc(before[n]?.length ?? 0), { flag: "r+" });
    await namesDeliveries(service.url, "webhook deliveries");
    await service.stop("SIGKILL");
    for (const [n, file] of files.entries()) await writeFile(file, before[n] as Buffer);
  });

  it.each([
    ["lock.db", "x".repeat(100), /lock\.db is damaged, and holds nothing: delete it/],
    ["events.db", "", /belong to the log .* but the log in events\.db .* is none yet/],
  ])("says of %s what is to be done, where its content is another", async (name, content, why) => {
    const file = fileOf(name);
    const before = await readFile(file);
    await writeFile(file, content);
    await expect(startService(instance)).rejects.toThrow(why);
    await writeFile(file, before);
  });

  it.each(["events.db", "secrets.db"])(
    "says of %s that it is to be restored, and leaves it",
    async (name) => {
      const restore = await damage(name);
      await expect(startService(instance)).rejects.toThrow(
        new RegExp(`DATA_DIR: .*${name}: .*: restore it from a backup`),
      );
      await restore();
      const service = await startService(instance);
      await service.stop();
    },
  );
});
