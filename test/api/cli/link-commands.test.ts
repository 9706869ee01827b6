// linkledger link list and restore, and exports of links with one status, beside a running service.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandLine } from "../../support/service/command-line.ts";
import { type Member, startTestService, type TestService } from "../../support/service/start-service.ts";

let service: TestService;
let member: Member;
let cli: ReturnType<typeof commandLine>;

beforeAll(async () => {
  service = await startTestService();
  member = await service.member("developer");
  cli = commandLine(service.config.dataDir);
}, 60_000);
afterAll(() => service.stop());

const shorten = async (more: object) =>
  (
    await service.post<{ slug: string }>("/api/v1/shorten", member.key, {
      url: "https://example.com/",
      ...more,
    })
  ).body.slug;
const ask = (method: string, below: string, body?: object) =>
  service.ask(`/api/v1/links/${below}`, { method, key: member.key, body });

describe("the links of an account", { timeout: 60_000 }, () => {
  it("are listed and exported by status, tag and words, a page at a time", async () => {
    const later = await shorten({ active_from: "2090-01-01", tags: ["spring"], title: "Später" });
    const off = await shorten({ tags: ["spring"] });
    await ask("PATCH", off, { disabled: true });
    const live = await shorten({});
    const list = async (...options: string[]) => {
      const { links } = await cli.json("link", "list", "--account", member.accountId, ...options);
      return links.map(({ short_url, status }: Record<string, string>) => [
        short_url?.split("/").at(-1),
        status,
      ]);
    };
    expect(await list()).toEqual([
      [live, "live"],
      [off, "disabled"],
      [later, "scheduled"],
    ]);
    expect(await list("--status", "scheduled")).toEqual([[later, "scheduled"]]);
    expect(await list("--tag", "spring", "--search", "SPATER")).toEqual([[later, "scheduled"]]);
    const first = await cli.json("link", "list", "--account", member.accountId, "--limit", "1");
    expect([first.total, first.links.length]).toEqual([3, 1]);
    expect((await list("--limit", "1", "--cursor", first.next_cursor))[0]).toEqual([off, "disabled"]);
    expect(await cli.refused("link", "list", "--account", member.accountId, "--status", "active")).toContain(
      "live, scheduled",
    );
    for (const [status, slug] of [
      ["scheduled", later],
      ["disabled", off],
      ["live", live],
    ] as const)
      for (const format of ["csv", "ndjson"]) {
        const file = join(service.config.dataDir, `links.${format}`);
        await cli.json("export", "links", member.accountId, "--status", status, "--out", file);
        const text = await readFile(file, "utf8");
        expect([status, format, text.trim().split("\n").length]).toEqual([status, format, 2]);
        expect(text).toContain(format === "csv" ? `,${status},` : `"status":"${status}"`);
        expect(text).toContain(slug);
      }
  });

  it("are restored, with another external id where another link has got theirs", async () => {
    const first = await shorten({ external_id: "order-1" });
    await ask("DELETE", first);
    await shorten({ external_id: "order-1" });
    expect(await cli.refused("link", "restore", first)).toContain("order-1");
    expect(await cli.refused("link", "restore", first, "--external-id", "x".repeat(101))).toContain(
      "at most 100 characters",
    );
    const restored = await cli.json("link", "restore", first, "--external-id", "order-2");
    expect(restored).toMatchObject({ slug: first, external_id: "order-2", status: "live" });
    expect((await ask("GET", first)).body).toMatchObject({ external_id: "order-2", status: "live" });
  });
});
