// Clicks exported as a table: DuckDB reads each format, and its sums are those of the API.
import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { CLICK_COLUMNS, type ClickRow } from "../../../src/transfer/export/click-lines.ts";
import { parquetParts } from "../../../src/transfer/export/parquet-file.ts";
import { appendNext } from "../../support/event-store/append-next.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { type Member, startTestService, type TestService } from "../../support/service/start-service.ts";

const AGENTS = [
  "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
  "Googlebot/2.1",
];
/** A key may ask 500 times an hour. */
const SELDOM = { everyMs: 200 };
const FORMATS = { ndjson: "read_json", csv: "read_csv", parquet: "read_parquet" } as const;
type Format = keyof typeof FORMATS;
type Counts = Record<string, number>;
type Analytics = Record<"eventTypes" | "devices" | "browsers" | "referrers", Counts> & {
  totalClicks: number;
};

let folder: TemporaryFolder;
let service: TestService;
let owner: Member;
let other: Member;
let cli: ReturnType<typeof commandLine>;
const slugs: string[] = [];

async function shorten({ key }: Member): Promise<string> {
  const url = `https://example.com/?utm_source="quoted",comma`.replaceAll('"', "%22");
  const { body } = await service.post<{ slug: string }>("/api/v1/shorten", key, { url });
  return body.slug;
}

async function follow(slug: string, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1)
    await service.ask(`/${slug}${n % 3 === 0 ? "?qr=1&utm_term=%2C%22%C3%BC" : ""}`, {
      headers: {
        "user-agent": AGENTS[n % AGENTS.length] as string,
        ...(n % 2 === 0 && { referer: "https://www.example.net/a,b" }),
      },
    });
}

async function analytics(slug: string): Promise<Analytics> {
  const { body } = await service.ask<{ analytics: Analytics }>(`/api/v1/analytics/${slug}`, {
    key: owner.key,
  });
  return body.analytics;
}

beforeAll(async () => {
  folder = await temporaryFolder();
  service = await startTestService();
  owner = await service.member("developer");
  other = await service.member("free");
  cli = commandLine(service.config.dataDir);
  slugs.push(await shorten(owner), await shorten(owner));
  await follow(slugs[0] as string, 11);
  await follow(slugs[1] as string, 4);
  await follow(await shorten(other), 5);
  const counted = async () => Promise.all(slugs.map(async (slug) => (await analytics(slug)).totalClicks));
  await until("every click", async () => (await counted()).join() === "11,4", SELDOM);
}, 120_000);
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

async function exported(format: Format, ...more: string[]): Promise<string> {
  const file = join(folder.path, `clicks-${format}-${more.join("").replace(/\W/g, "")}`);
  const printed = await cli.json("export", "clicks", "--format", format, "--out", file, ...more);
  expect(printed).toEqual({ file, bytes: (await readFile(file)).length });
  return file;
}

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const duckdb = await DuckDBInstance.create();
  const connection = await duckdb.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowObjectsJson();
  } finally {
    connection.closeSync();
    duckdb.closeSync();
  }
}

/** Counts by a column. */
async function counts(table: string, column: string, where = "true"): Promise<Counts> {
  const rows = await query(
    `SELECT ${column} AS name, count(*)::int AS n FROM ${table} WHERE ${where} GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ name, n }) => [name, n])) as Counts;
}

function nonZero(of: Counts): Counts {
  return Object.fromEntries(Object.entries(of).filter(([, n]) => n > 0));
}

describe("the clicks of an account as a table", { timeout: 60_000 }, () => {
  it.each(Object.keys(FORMATS) as Format[])("have the sums of the API as %s", async (format) => {
    const file = await exported(format, "--account", owner.accountId);
    const table = `${FORMATS[format]}('${file}')`;
    expect(await counts(table, "link")).toEqual({
      [`localhost/${slugs[0]}`]: 11,
      [`localhost/${slugs[1]}`]: 4,
    });
    for (const slug of slugs) {
      const of = `link = 'localhost/${slug}'`;
      const answer = await analytics(slug);
      expect(await counts(table, "type", of)).toEqual(nonZero(answer.eventTypes));
      expect(await counts(table, "device", of)).toEqual(nonZero(answer.devices));
      expect(await counts(table, "browser", of)).toEqual(answer.browsers);
      const referrers = await counts(table, "coalesce(referrer, '') <> ''", of);
      expect(referrers).toEqual({ true: answer.referrers["example.net"], false: answer.referrers.direct });
    }
    expect(await counts(table, "utm_term", "utm_term <> ''")).toEqual({ ',"ü': 6 });
  });

  it.each(Object.keys(FORMATS) as Format[])(
    "tie to the log by event id and position as %s",
    async (format) => {
      const file = await exported(format, "--account", owner.accountId, "--to", "2100-01-01");
      const text = format === "csv" ? ", all_varchar = true" : "";
      const rows = await query(
        `SELECT link, event_id::varchar AS id, "position"::varchar AS place FROM ${FORMATS[format]}('${file}'${text}) LIMIT 2`,
      );
      expect(rows).toHaveLength(2);
      for (const { link, id, place } of rows) {
        const { events } = await cli.json("audit", "events", "--from", String(place), "--limit", "1");
        expect(events).toMatchObject([{ id, position: place, type: "LinkClicked", data: { link } }]);
      }
    },
  );

  it("are listed by the log for a link without times, page by page, whatever came in between", async () => {
    const link = `localhost/${slugs[0]}`;
    const pages: number[] = [];
    let after: string[] = [];
    for (;;) {
      const page = ["--link", link, "--limit", "4", ...after];
      const { events, next, rest } = await cli.json("audit", "clicks", ...page);
      pages.push(events.length);
      if (next === null) break;
      expect(rest).toBe(`there may be more: go on with --after ${next}`);
      after = ["--after", next];
    }
    expect(pages).toEqual([4, 4, 3]);
  });

  it("have times that Parquet readers take as such", async () => {
    const file = await exported("parquet", "--account", owner.accountId);
    const [row] = await query(
      `SELECT typeof(any_value("at")) AS type, max("at")::varchar AS last FROM read_parquet('${file}')`,
    );
    const { body } = await service.ask<{ analytics: { recentClicks: { at: string }[] } }>(
      `/api/v1/analytics/${slugs[1]}`,
      { key: owner.key },
    );
    const last = new Date(`${row?.last}Z`.replace(" ", "T").replace(/\+00Z$/, "Z")).toISOString();
    expect([row?.type, last]).toEqual([
      expect.stringMatching(/^TIMESTAMP/),
      body.analytics.recentClicks[0]?.at,
    ]);
  });

  it("are all accounts' without --account, and only those of a time with --from and --to", async () => {
    const { stdout } = await cli.linkledger(["export", "clicks"]);
    const times = stdout
      .trimEnd()
      .split("\n")
      .map((line) => String(JSON.parse(line).at))
      .sort();
    expect(times).toHaveLength(20);
    const [from, to] = [times[3], times[12]] as [string, string];
    const file = await exported("csv", "--from", from, "--to", to);
    const [row] = await query(`SELECT count(*)::int AS n FROM read_csv('${file}')`);
    expect(row?.n).toBe(times.filter((at) => at >= from && at < to).length);
  });

  it("say in one line what is wrong with the call", async () => {
    expect(await cli.refused("export", "clicks", "--format", "parquet")).toContain("--out");
    expect(await cli.refused("export", "clicks", "--account", "nobody")).toContain("ccount");
    const swapped = ["--from", "2026-02-01", "--to", "2026-01-01"];
    expect(await cli.refused("export", "clicks", ...swapped)).toContain("--from must be before --to");
    expect((await cli.linkledger(["export", "clicks", "--from", "yesterday"])).stderr).toContain(
      "2026-01-31",
    );
  });

  it("go to what is no file, such as a device", async () => {
    expect(await cli.json("export", "clicks", "--out", "/dev/null")).toMatchObject({ file: "/dev/null" });
    expect((await stat("/dev/null")).isFile()).toBe(false);
  });

  it("are written to a Parquet file while they are read, so that more take no more memory", async () => {
    const file = join(folder.path, "many.parquet");
    const row = () =>
      ({ at: "2026-03-01T10:00:00.000Z", userAgent: randomBytes(100).toString("hex") }) as ClickRow;
    const sizes: number[] = [];
    const pages = async function* () {
      for (let n = 0; n < 40_000; n += 1_000) {
        yield Array.from({ length: 1_000 }, row);
        sizes.push((await stat(file).catch(() => ({ size: 0 }))).size);
      }
    };
    const columns = CLICK_COLUMNS.filter(([name]) => ["at", "user_agent"].includes(name));
    await pipeline(parquetParts(columns, pages()), createWriteStream(file));
    const [{ size }, half = 0] = [await stat(file), sizes[25]];
    expect(half).toBeGreaterThan(size / 3);
    const [counted] = await query(`SELECT count(*)::int AS n FROM read_parquet('${file}')`);
    expect(counted?.n).toBe(40_000);
  });

  it("are left as they were exported before when an export fails, whatever its format", async () => {
    const origin = { correlationId: "test", causationId: "test", actor: { type: "operator" as const } };
    const click = newEvent(linkClicked({ link: `localhost/${slugs[0]}` }), runtimeDeps.newId(), origin);
    const ofNewerProgram = { ...click, metadata: { ...click.metadata, schemaVersion: 99 } };
    await appendNext(service.backend.eventStore, "clicks-newer-20260301", [ofNewerProgram]);
    const file = join(folder.path, "kept");
    await writeFile(file, "of yesterday");
    for (const format of Object.keys(FORMATS)) {
      await cli.refused("export", "clicks", "--format", format, "--out", file);
      expect(await readFile(file, "utf8")).toBe("of yesterday");
    }
    expect((await readdir(folder.path)).filter((name) => name.endsWith(".part"))).toEqual([]);
  });
});
