// How files of records are written in the wild: by MySQL, by spreadsheets, in other encodings, with stray quotes.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ownFiles } from "../../../src/cli/files.ts";
import type { LinkEvent } from "../../../src/events/catalogue.ts";
import { readEvent } from "../../../src/events/read-event.ts";
import { CATEGORY } from "../../../src/events/streams.ts";
import { timeZone } from "../../../src/queries/analytics/time-zone.ts";
import { kutt } from "../../../src/transfer/import/formats/kutt.ts";
import { plainCsv } from "../../../src/transfer/import/formats/plain-csv.ts";
import { shlink } from "../../../src/transfer/import/formats/shlink.ts";
import { yourls } from "../../../src/transfer/import/formats/yourls.ts";
import type { ImportFormat } from "../../../src/transfer/import/imported.ts";
import { openCommandDeps } from "../../support/commands/command-deps.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import { imported, newAccount } from "../../support/import/importing.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const SITE = "https://example.com/";

let open: Awaited<ReturnType<typeof openCommandDeps>>;
let folder: TemporaryFolder;
let accountId: string;
beforeEach(async () => {
  [open, folder] = [await openCommandDeps(), await temporaryFolder()];
  ({ accountId } = await newAccount(open.deps));
});
afterEach(async () => {
  await open.close();
  await folder.remove();
});

type Given = { encoding?: string; timezone?: string; clicks?: string };
async function run(
  format: ImportFormat,
  content: string | Buffer,
  { encoding, timezone, clicks }: Given = {},
) {
  const links = join(folder.path, "links");
  const log = clicks === undefined ? undefined : join(folder.path, "clicks");
  await writeFile(links, content);
  if (log && clicks) await writeFile(log, clicks);
  return await imported(open.deps, accountId, format, ownFiles.source(links), {
    clicks: log === undefined ? undefined : ownFiles.source(log),
    encoding,
    zone: timezone === undefined ? undefined : timeZone(timezone),
  });
}

async function made(): Promise<Partial<(LinkEvent & { type: "LinkCreated" })["data"]>[]> {
  const recorded = await loggedEvents(open.deps.eventStore, { categories: [CATEGORY.link], limit: 10_000 });
  return recorded.map((event) => readEvent(event)?.data as never);
}

const messages = ({ errors }: Awaited<ReturnType<typeof run>>) =>
  errors.map(({ place, error }) => `${place}: ${error}`);

describe("a stray quote", () => {
  it("takes no row along but its own, however many follow", async () => {
    const rows = Array.from({ length: 3_000 }, (_, n) => `s${n},${SITE}${n},"Title ${n}"`);
    rows[1] = `s1,${SITE}1,"Best`;
    rows[2_000] = `s2000,${SITE}2000,5" disk`;
    const report = await run(yourls, ["keyword,url,title", ...rows].join("\n"));
    expect(report.links).toEqual({ read: 3_000, created: 2_998, already: 0, failed: 2 });
    expect(report.errors.map(({ place }) => place)).toEqual(["line 3", "line 2002"]);
  });

  it("is never closed at the end of the file: the rows after it are read", async () => {
    const rows = Array.from({ length: 100 }, (_, n) => `s${n},${SITE}${n},${n === 5 ? '"Best' : "x"}`);
    const { links } = await run(yourls, ["keyword,url,title", ...rows].join("\n"));
    expect(links).toEqual({ read: 100, created: 99, already: 0, failed: 1 });
  });

  it("that may have its pair many rows on: says which lines can't be told apart, and counts them", async () => {
    const rows = Array.from({ length: 1_000 }, (_, n) => `s${n},${SITE}${n},title ${n}`);
    rows[1] = `s1,${SITE}1,"Best`;
    rows[500] = `s500,${SITE}500,the best"`;
    const report = await run(yourls, ["keyword,url,title", ...rows].join("\n"));
    expect(report.links).toEqual({ read: 1_000, created: 500, already: 0, failed: 500 });
    expect(messages(report)).toEqual([
      expect.stringMatching(/^lines 3 to 502: these lines can't be told apart/),
    ]);
  });

  it("leaves texts of several lines alone", async () => {
    const text = '"Asked for, by sales\nsee https://example.com/a, too\n\nsoon"';
    await run(plainCsv, `url,slug,comments,title\n${SITE},one1,${text},x\n`);
    expect(await made()).toMatchObject([
      { comments: "Asked for, by sales\nsee https://example.com/a, too\n\nsoon", title: "x" },
    ]);
  });
});

describe("a table of MySQL", () => {
  it("reads what `mysql -B` prints: no quotes, and backslashes before what would part cells", async () => {
    const lines = [
      "keyword\turl\ttitle",
      `a1\t${SITE}a\t"Best" 5" disk`,
      `b2\t${SITE}b\ttwo\\nlines\\tand \\\\`,
      `c3\t${SITE}c\tNULL`,
    ];
    const { links } = await run(yourls, `${lines.join("\n")}\n`);
    expect(links).toMatchObject({ created: 3, failed: 0 });
    expect((await made()).map(({ title }) => title)).toEqual([
      '"Best" 5" disk',
      "two lines and \\",
      undefined,
    ]);
  });

  it('reads quotes that are written \\"', async () => {
    const content = `"keyword","url","title"\n"a1","${SITE}a","say \\"hi\\", \\\\o"\n"b2","${SITE}b",\\N\n`;
    expect((await run(yourls, content)).links).toMatchObject({ created: 2, failed: 0 });
    expect((await made()).map(({ title }) => title)).toEqual(['say "hi", \\o', undefined]);
  });
});

describe("a table's columns", () => {
  it("refuses a row with more fields than the header, and takes one with separators alone after its last", async () => {
    const report = await run(plainCsv, `slug,url\na1,https://news.example.com/a,b,c.html\nb2,${SITE},,\n`);
    expect(report.links).toMatchObject({ created: 1, failed: 1 });
    expect(messages(report)).toEqual([expect.stringContaining("line 2: it has 4 fields, the header 2")]);
  });

  it("refuses a table with two columns of one name, before anything is written", async () => {
    await expect(run(plainCsv, `slug,url,URL\na1,${SITE},https://evil.example/\n`)).rejects.toThrow(
      "url and URL",
    );
    expect(await made()).toEqual([]);
  });

  it("reads Shlink's own tables, with tags by bars or semicolons", async () => {
    const content = `createdAt,domain,shortCode,longUrl,title,tags,visits\n2024-03-01T10:00:00Z,,one1,${SITE},T,a|b,3\n,,two2,${SITE},T,c;d,0\n`;
    const { links, clicks } = await run(shlink, content);
    expect([links.created, clicks.only_totals]).toEqual([2, 3]);
    expect(await made()).toMatchObject([
      { slug: "one1", tags: ["a", "b"], at: "2024-03-01T10:00:00.000Z", forwardQuery: "visitor" },
      { tags: ["c", "d"] },
    ]);
  });
});

describe("a list of URLs", () => {
  it("makes a slug for each, the same when it is imported again, whatever is in them", async () => {
    const list = `${SITE}\nhttps://news.example.com/a,b,c.html\n${SITE}?q="x"\n${SITE}\n`;
    expect((await run(plainCsv, list)).links).toEqual({ read: 4, created: 3, already: 1, failed: 0 });
    expect((await run(plainCsv, `url\n${list}`)).links).toMatchObject({ read: 4, created: 0, already: 4 });
    const links = await made();
    expect(links[1]).toMatchObject({ longUrl: "https://news.example.com/a,b,c.html", custom: false });
    expect(new Set(links.map(({ slug }) => slug)).size).toBe(links.length);
  });

  it("finds what it made before", async () => {
    await run(plainCsv, `url\n${SITE}\n`);
    expect((await run(plainCsv, `url\n${SITE}\n`)).links).toMatchObject({ created: 0, already: 1 });
  });
});

describe("bytes that are not UTF-8", () => {
  const latin = Buffer.from(`slug,url,title\na1,${SITE}a,Caf\xe9\nb2,${SITE}b,x\n`, "latin1");

  it("refuse their row, and no other", async () => {
    const report = await run(plainCsv, latin);
    expect(report.links).toMatchObject({ created: 1, failed: 1 });
    expect(messages(report)).toEqual([expect.stringContaining("line 2: it is not UTF-8")]);
  });

  it("are read by the encoding that is named, or that the file begins with", async () => {
    expect((await run(plainCsv, latin, { encoding: "windows-1252" })).links).toMatchObject({ created: 2 });
    expect(await made()).toMatchObject([{ title: "Café" }, { title: "x" }]);
    const table = Buffer.from(`\ufeffslug\turl\ttitle\r\nc3\t${SITE}c\tÜnï\r\n`, "utf16le");
    expect((await run(plainCsv, table)).links).toMatchObject({ created: 1 });
    expect((await made()).at(-1)).toMatchObject({ title: "Ünï" });
  });

  it("refuse their record of JSON, and U+FFFD that was written is kept", async () => {
    const record = (slug: string, title: string) =>
      `{"keyword":"${slug}","url":"${SITE}${slug}","title":"${title}"}`;
    const content = Buffer.from(`${record("a1", "\xff")}\n${record("b2", "\xef\xbf\xbd")}\n`, "latin1");
    expect((await run(yourls, content)).links).toMatchObject({ created: 1, failed: 1 });
    expect(await made()).toMatchObject([{ slug: "b2", title: "\ufffd" }]);
  });
});

describe("what a row says in a way of its own", () => {
  it("is told when a total is no whole number", async () => {
    const { links, clicks, notes } = await run(plainCsv, `slug,url,clicks\na1,${SITE},1.234\n`);
    expect([links.created, clicks.only_totals]).toEqual([1, 0]);
    expect(notes).toMatchObject([
      { place: "line 2", note: expect.stringContaining("1.234 is no whole number") },
    ]);
  });

  it("needs a time zone for local times of Kutt, and takes others as UTC", async () => {
    const links = `id,address,target,created_at\n1,one1,${SITE},2022-07-01 10:00:00\n`;
    const report = await run(kutt, links);
    expect(messages(report)).toEqual([expect.stringContaining("--timezone")]);
    const clicks = "link_id,created_at,total\n1,2022-07-01 12:00:00,1\n1,2022-07-01 13:00:00,1.234\n";
    const zoned = await run(kutt, links, { timezone: "Europe/Berlin", clicks });
    expect(zoned.clicks).toMatchObject({ read: 2, created: 1, failed: 1 });
    expect(await made()).toMatchObject([{ at: "2022-07-01T08:00:00.000Z" }]);
    await run(plainCsv, `slug,url,created_at\ntwo2,${SITE},2022-07-01 10:00:00\n`);
    expect((await made()).at(-1)).toMatchObject({ at: "2022-07-01T10:00:00.000Z" });
  });

  it("fails where one slug leads to two destinations", async () => {
    const { links } = await run(plainCsv, `slug,url\na1,${SITE}a\na1,${SITE}b\na1,${SITE}a\n`);
    expect(links).toEqual({ read: 3, created: 1, already: 1, failed: 1 });
  });

  it("ends in one line where a field is as large as a file", async () => {
    const huge = Buffer.alloc(8_000_000, "a");
    for (const quote of ['"', ""]) {
      const content = Buffer.concat([
        Buffer.from(`slug,url,title\na1,${SITE},${quote}`),
        huge,
        Buffer.from(`${quote}\nb${quote ? 1 : 2},${SITE},x\n`),
      ]);
      const report = await run(plainCsv, content);
      expect(report.links).toMatchObject({ created: 1, failed: 1 });
      expect(messages(report)).toEqual([expect.stringMatching(/^line 2: a record of more than/)]);
    }
  }, 60_000);

  it("ends in one line where JSON is nested too deeply", async () => {
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    const report = await run(
      yourls,
      `{"keyword":"a1","url":"${SITE}","x":${deep}}\n{"keyword":"b2","url":"${SITE}"}\n`,
    );
    expect(report.links).toMatchObject({ created: 1, failed: 1 });
    expect((await run(plainCsv, `slug,url,rules\nc3,${SITE},"${deep}"\n`)).links).toMatchObject({
      failed: 1,
    });
  });
});
