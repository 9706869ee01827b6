// A destination of 8,192 characters, the most that a link may have, from its creation to its exports and back.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../support/runtime/until.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { type Member, startTestService, type TestService } from "../../support/service/start-service.ts";

const START = "https://example.com/?utm_source=mail&token=";
const LONG = START + "a".repeat(8_192 - START.length);

let service: TestService;
let owner: Member;
let slug: string;
let cli: ReturnType<typeof commandLine>;
beforeAll(async () => {
  service = await startTestService();
  owner = await service.member("developer");
  cli = commandLine(service.config.dataDir);
  const { status, body } = await service.post<{ slug: string; long_url: string }>(
    "/api/v1/shorten",
    owner.key,
    { url: LONG },
  );
  expect([status, body.long_url]).toEqual([201, LONG]);
  slug = body.slug;
}, 60_000);
afterAll(() => service?.stop());

const urlOf = (name: string) => `http://127.0.0.1:${service.port}/${name}`;

describe("a link to 8,192 characters", { timeout: 60_000 }, () => {
  it("redirects curl, Node's http and fetch to all of them", async () => {
    const curl = await promisify(execFile)("curl", ["-sS", "-w", "%{redirect_url}", urlOf(slug)]);
    expect(curl.stdout).toBe(LONG);
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    get(urlOf(slug), (response) => resolve(response.resume().headers.location)).on("error", reject);
    expect(await promise).toBe(LONG);
    const fetched = await fetch(urlOf(slug), { redirect: "manual" });
    expect([fetched.status, fetched.headers.get("location")]).toEqual([301, LONG]);
  });

  it("is listed, found by its end, and counted", async () => {
    const analytics = async () =>
      (
        await service.ask<{ link: { long_url: string }; analytics: { totalClicks: number; utm: object } }>(
          `/api/v1/analytics/${slug}`,
          { key: owner.key },
        )
      ).body;
    await until("the clicks", async () => (await analytics()).analytics.totalClicks === 3, { everyMs: 200 });
    expect(await analytics()).toMatchObject({
      link: { long_url: LONG },
      analytics: { utm: { source: { mail: 3 } } },
    });
    const { body } = await service.ask<{ links: { long_url: string }[] }>(
      `/api/v1/links?q=${"a".repeat(200)}`,
      { key: owner.key },
    );
    expect(body.links.map(({ long_url }) => long_url)).toEqual([LONG]);
  });

  it("is exported with its clicks, and imported again", async () => {
    const { dataDir } = service.config;
    const [links, clicks, csv] = ["links.ndjson", "clicks.csv", "yourls.csv"].map((name) =>
      join(dataDir, name),
    ) as [string, string, string];
    await cli.json("export", "links", owner.accountId, "--out", links);
    expect(await readFile(links, "utf8")).toContain(`"${LONG}"`);
    await cli.json("export", "clicks", "--format", "csv", "--out", clicks);
    const rows: { long_url: string }[] = parse(await readFile(clicks), { columns: true });
    expect(rows.map(({ long_url }) => long_url)).toEqual([LONG, LONG, LONG]);
    await writeFile(csv, `keyword,url,timestamp,clicks\nagain,${LONG},2020-01-01 00:00:00,0\n`);
    const report = await cli.json("import", "yourls", csv, "--account", owner.accountId);
    expect(report.links).toMatchObject({ created: 1, failed: 0 });
    expect((await service.ask("/again")).headers.location).toBe(LONG);
  });
});
