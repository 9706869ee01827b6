// Links of another service, imported beside the running service, are links as any other.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

it.each([1, 50, 51, 100])("an imported link with a slug of %i characters redirects", async (length) => {
  const { accountId } = await service.member("free");
  const { dataDir, baseUrl } = service.config;
  const slug = "a".repeat(length);
  const file = join(dataDir, `${length}.csv`);
  await writeFile(file, `keyword,url,timestamp,clicks\n${slug},https://example.com/,2020-01-01 00:00:00,0\n`);
  const cli = commandLine(dataDir, { BASE_URL: baseUrl });
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
  const { dataDir, baseUrl } = service.config;
  const file = join(dataDir, "fields.csv");
  const rows = ["keyword;url;title;ip;hue", "hue1;https://example.com/;One;192.0.2.1;red"];
  await writeFile(file, [...rows, `hue2;https://example.com/;${"t".repeat(201)};192.0.2.1;NULL`].join("\n"));
  const cli = commandLine(dataDir, { BASE_URL: baseUrl });
  const { stdout } = await cli.linkledger(["import", "yourls", file, "--account", accountId]);
  expect(stdout).toMatch(/Links +2 created/);
  expect(stdout).toMatch(
    /Fields not taken\n.*\n +ip +2 +the address of whoever made the link.*\n +hue +1 +not known/,
  );
  expect(stdout).toMatch(/Notes\n.*\n.*line 3 +title shortened/);
  expect(stdout).not.toContain("keyword");
});
