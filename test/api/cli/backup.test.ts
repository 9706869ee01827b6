// `linkledger backup` while the service runs, and a service started from the backup.
import { cp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { type Member, startTestService, type TestService } from "../../support/service/start-service.ts";

type Link = { slug: string; long_url: string };

describe("a backup of the embedded files", () => {
  let service: TestService;
  let folder: TemporaryFolder;
  let member: Member;
  const links: Link[] = [];

  beforeAll(async () => {
    folder = await temporaryFolder();
    service = await startTestService();
    member = await service.member("developer");
  });
  afterAll(async () => {
    await service.stop();
    await folder.remove();
  });

  const shorten = async () => {
    const url = `https://example.com/${links.length}`;
    const { body } = await service.post<Link>("/api/v1/shorten", member.key, { url });
    links.push(body);
    await service.ask(`/${body.slug}`);
  };
  const totalClicks = async (from: TestService, slug: string) => {
    const path = `/api/v1/analytics/${slug}`;
    const { body } = await from.ask<{ analytics?: { totalClicks: number } }>(path, { key: member.key });
    return body.analytics?.totalClicks;
  };

  const copyOfFirst = async (name: string) => {
    await cp(join(folder.path, "first"), join(folder.path, name), { recursive: true });
    return join(folder.path, name);
  };

  it("is made beside a service that goes on writing", async () => {
    for (let n = 0; n < 20; n++) await shorten();
    await expect.poll(() => totalClicks(service, links[19]?.slug ?? "")).toBe(1);
    const backup = join(folder.path, "first");
    const { json } = commandLine(service.config.dataDir);
    const writing = Promise.all(Array.from({ length: 5 }, shorten));
    const answer = await json("backup", backup);
    await writing;
    expect(answer).toMatchObject({ folder: backup });
    expect(answer.files.map(({ name }: { name: string }) => name)).toEqual(await filesOf(backup));
  });

  it("is all that another service needs: links, keys, e-mail addresses, every click", async () => {
    const restored = await startTestService({ DATA_DIR: join(folder.path, "first") });
    try {
      for (const { slug, long_url } of links.slice(0, 20))
        expect((await restored.ask(`/${slug}`, { method: "HEAD" })).headers.location).toBe(long_url);
      const { slug = "" } = links[19] ?? {};
      await expect.poll(() => totalClicks(restored, slug)).toBe(2);
      const { json } = commandLine(restored.config.dataDir);
      expect((await json("account", "list")).accounts).toMatchObject([{ email: "member-1@example.com" }]);
      await json("audit", "seal");
      expect(await json("audit", "verify")).toMatchObject({ ok: true });
    } finally {
      await restored.stop();
    }
  });

  it("never goes over what is there", async () => {
    const { refused } = commandLine(service.config.dataDir);
    expect(await refused("backup", join(folder.path, "first"))).toContain("is not empty");
    expect(await refused("backup", service.config.dataDir)).toContain("is not empty");
  });

  it("is refused on servers, which have tools of their own", async () => {
    const servers = {
      EVENTSTORE_URL: "esdb://127.0.0.1:1",
      MONGODB_URL: "mongodb://127.0.0.1:1",
      REDIS_URL: "redis://127.0.0.1:1",
      SECRET_KEY: "a secret of thirty-two characters",
    };
    const { refused } = commandLine(service.config.dataDir, servers);
    expect(await refused("backup", join(folder.path, "of-servers"))).toContain(
      "use the tools of these servers",
    );
  });

  it("is refused without the log or the secrets, as in another folder or for another user", async () => {
    const backup = join(folder.path, "second");
    const part = await copyOfFirst("without-log");
    await rm(join(part, "events.db"));
    expect(await commandLine(part).refused("backup", backup)).toContain("has no events.db");
    const nowhere = commandLine(join(folder.path, "none"));
    expect(await nowhere.refused("backup", backup)).toContain("has no events.db and no secrets.db");
    expect(await readdir(folder.path)).not.toContain("second");
  });

  it("names the file that is damaged, and leaves nothing behind", async () => {
    const damaged = await copyOfFirst("damaged");
    await writeFile(join(damaged, "secrets.db"), "these are no pages");
    const backup = join(folder.path, "third");
    const told = await commandLine(damaged).refused("backup", backup);
    expect(told).toContain(`secrets.db can't be copied to ${backup}: file is not a database`);
    expect(await readdir(backup)).toEqual([]);
  });
});

/** In the order of copying. */
async function filesOf(folder: string): Promise<string[]> {
  const order = ["events.db", "deliveries.db", "secrets.db", "secret.key"];
  return (await readdir(folder)).sort((a, b) => order.indexOf(a) - order.indexOf(b));
}
