// Links of another service, imported beside the running service, are links as any other.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { type FileHandle, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { childEnvironment } from "../../support/service/child-environment.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

it.each([1, 50, 51, 100])("an imported link with a slug of %i characters redirects", async (length) => {
  const { accountId } = await service.member("free");
  const { dataDir } = service.config;
  const slug = "a".repeat(length);
  const file = join(dataDir, `${length}.csv`);
  await writeFile(file, `keyword,url,timestamp,clicks\n${slug},https://example.com/,2020-01-01 00:00:00,0\n`);
  const cli = commandLine(dataDir);
  const report = await cli.json("import", "yourls", file, "--account", accountId);
  expect(report.links).toMatchObject({ created: 1, failed: 0 });
  expect((await service.ask(`/${slug}`)).status).toBe(301);
});

it.each(["bitly", "linkledger"])(
  "%s, which has no file of clicks of its own, is refused one",
  async (format) => {
    const { accountId } = await service.member("free");
    const { dataDir } = service.config;
    const file = join(dataDir, `${format}.ndjson`);
    await writeFile(file, "{}\n");
    const cli = commandLine(dataDir);
    const refusal = await cli.refused("import", format, file, "--clicks", file, "--account", accountId);
    expect(refusal).toContain("leave --clicks out");
  },
);

it.each(["", "."])("clicks in no file, such as '%s', are refused before a link is made", async (clicks) => {
  const { accountId } = await service.member("free");
  const { dataDir } = service.config;
  const file = join(dataDir, "links.csv");
  await writeFile(file, "keyword,url,timestamp,clicks\nearly,https://example.com/,2020-01-01 00:00:00,0\n");
  const cli = commandLine(dataDir);
  const refusal = await cli.refused("import", "yourls", file, "--clicks", clicks, "--account", accountId);
  expect(refusal).toMatch(/No such file|A folder, not a file/);
  expect((await service.ask("/early")).status).toBe(404);
});

it("a file of another format is refused once, with the columns that were expected and found", async () => {
  const { accountId } = await service.member("free");
  const { dataDir } = service.config;
  const cli = commandLine(dataDir);
  const call = (...args: string[]) => cli.refused("import", ...args, "--account", accountId);
  expect(await call("yourls", "README.md")).toMatch(
    /README\.md is of another format: expected the columns keyword or shorturl, and url; found _linkledger/,
  );
  const file = join(dataDir, "half.csv");
  await writeFile(file, "keyword,title\nearly,Title\n");
  expect(await call("yourls", file)).toMatch(/expected the columns .* and url; found keyword, title/);
  const links = join(dataDir, "whole.csv");
  await writeFile(links, "keyword,url\nearly,https://example.com/\n");
  expect(await call("yourls", links, "--clicks", links)).toMatch(/and click_time; found keyword, url/);
  expect((await service.ask("/early")).status).toBe(404);
});

it("what is not taken of a link is named with the reason, and how many links have it", async () => {
  const { accountId } = await service.member("free");
  const { dataDir } = service.config;
  const file = join(dataDir, "fields.csv");
  const rows = ["keyword;url;title;ip;hue", "hue1;https://example.com/;One;192.0.2.1;red"];
  await writeFile(file, [...rows, `hue2;https://example.com/;${"t".repeat(201)};192.0.2.1;NULL`].join("\n"));
  const cli = commandLine(dataDir);
  const { stdout } = await cli.linkledger(["import", "yourls", file, "--account", accountId]);
  expect(stdout).toMatch(/Links +2 created/);
  expect(stdout).toMatch(
    /Fields not taken\n.*\n +ip +2 +the address of whoever made the link.*\n +hue +1 +not known/,
  );
  expect(stdout).toMatch(/Notes\n.*\n.*line 3 +title shortened/);
  expect(stdout).not.toContain("keyword");
});

describe("a command beside the service, whose files are its own", () => {
  let folder: TemporaryFolder;
  let dataDir: string;
  let accountId: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
    dataDir = service.config.dataDir;
    accountId = (await service.member("free")).accountId;
  });
  afterAll(() => folder.remove());

  const started = (...args: string[]) => {
    const child = spawn(
      process.execPath,
      ["src/cli.ts", "import", ...args, "--account", accountId, "--json"],
      {
        env: childEnvironment({ DATA_DIR: dataDir }),
      },
    );
    const ended = Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);
    return { child, ended };
  };
  const fifo = (name: string) => {
    const path = join(folder.path, name);
    execFileSync("mkfifo", [path]);
    return path;
  };

  it("reads standard input and pipes once", async () => {
    const { child, ended } = started("yourls", "-", "--clicks", fifo("clicks"));
    spawn("sh", [
      "-c",
      `printf 'shorturl,click_time\\npiped,2024-01-01 10:00:00\\n' > "$0"`,
      join(folder.path, "clicks"),
    ]);
    child.stdin.end("keyword,url\npiped,https://example.com/\n");
    const [[code], stdout, stderr] = await ended;
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ links: { created: 1 }, clicks: { created: 1 } });
  });

  it("ends by a signal while nobody writes into its pipe", async () => {
    const pipe = fifo("silent");
    const { child, ended } = started("yourls", pipe);
    // Refused until somebody has it open for reading.
    const opened = () => open(pipe, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined);
    let writer: FileHandle | undefined;
    await until("the command to read its pipe", async () => {
      writer = await opened();
      return writer !== undefined;
    });
    child.kill("SIGTERM");
    expect((await ended)[0][0]).toBe(130);
    await writer?.close();
  });

  it("fails with nothing on its input, and with some pages of an answer unless they are meant", async () => {
    const nothing = started("csv", "-");
    nothing.child.stdin.end("");
    expect(await nothing.ended).toMatchObject([
      [1, null],
      "",
      "error: standard input is empty: there is nothing to import\n",
    ]);
    for (const [more, code] of [
      [[], 1],
      [["--partial"], 0],
    ] as const) {
      const { child, ended } = started("kutt", "-", "--timezone", "UTC", ...more);
      child.stdin.end('{"total":3,"data":[{"address":"page1","target":"https://example.com/"}]}');
      const [[exitCode], stdout] = await ended;
      expect(exitCode).toBe(code);
      expect(JSON.parse(stdout).missing).toEqual([
        { file: "standard input", note: "1 of 3 links are in this file" },
      ]);
    }
  });
}, 60_000);

it("an export is written as its file is called, or refused", async () => {
  const { accountId } = await service.member("free");
  const { dataDir } = service.config;
  const cli = commandLine(dataDir);
  for (const name of ["c.xlsx", "c.tsv", "c.csv.gz", "c.CSV.zip"])
    expect(await cli.refused("export", "links", accountId, "--out", join(dataDir, name))).toContain(
      "but as ndjson, csv",
    );
  expect(await cli.refused("export", "account", accountId, "--out", join(dataDir, "c.csv"))).toContain(
    "ndjson",
  );
  expect(
    await cli.refused("export", "links", accountId, "--format", "ndjson", "--for-spreadsheet"),
  ).toContain("CSV");
  const { stdout } = await cli.linkledger(["export", "links", accountId, "--out", "-", "--for-spreadsheet"]);
  expect(stdout).toMatch(/^\ufeffurl \(for spreadsheets: /);
});

it("visitors of clicks that were imported without addresses are not known, in no number", async () => {
  const { accountId, key } = await service.member("developer");
  const { dataDir } = service.config;
  const [links, clicks] = [join(dataDir, "known.csv"), join(dataDir, "known-log.csv")];
  await writeFile(links, "keyword,url\nknown,https://example.com/\n");
  const agents = ["Firefox/128.0", "Chrome/126.0.0.0", "Version/17.5 Safari/605.1.15"];
  const row = (n: number, day: number, address: string) =>
    `known,2024-03-0${day} 10:00:${String(n).padStart(2, "0")},"Mozilla/5.0 (X11; Linux x86_64) ${agents[n % 3]}",${address}`;
  const rows = Array.from({ length: 30 }, (_, n) => row(n, 1, ""));
  const known = [row(0, 3, "192.0.2.1"), row(1, 3, "192.0.2.1"), row(0, 3, "198.51.100.1")];
  await writeFile(clicks, ["shorturl,click_time,user_agent,ip_address", ...rows, ...known].join("\n"));
  const cli = commandLine(dataDir);
  const report = await cli.json("import", "yourls", links, "--clicks", clicks, "--account", accountId);
  expect(report.clicks).toMatchObject({ created: 33 });
  type Answer = {
    totals: { people: number; visitors: number | null };
    series: { visitors: number | null }[];
  };
  const ask = async (from: string, to: string) =>
    (await service.ask<Answer>(`/api/v1/analytics?from=${from}&to=${to}&interval=day`, { key })).body;
  await until("the clicks", async () => (await ask("2024-03-01", "2024-03-05")).totals.people === 33);
  const all = await ask("2024-03-01", "2024-03-05");
  expect(all.totals.visitors).toBeNull();
  expect(all.series.map(({ visitors }) => visitors)).toEqual([null, 0, 3, 0]);
  expect((await ask("2024-03-02", "2024-03-05")).totals.visitors).toBe(3);
});
