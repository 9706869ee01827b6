// Files of each service with every field filled, by hand from its documentation: what becomes of each field.

import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ownFiles } from "../../../src/cli/files.ts";
import { LINK_FIELDS } from "../../../src/commands/links/fields/link-fields.ts";
import type { ExistingLink } from "../../../src/commands/links/link.ts";
import { isLinkPassword, linkPasswordSecret } from "../../../src/commands/links/link-password.ts";
import { currentLink } from "../../../src/commands/links/link-stream.ts";
import { linkObject } from "../../../src/queries/links/link-object.ts";
import { bitly } from "../../../src/transfer/import/formats/bitly.ts";
import { dub } from "../../../src/transfer/import/formats/dub.ts";
import { kutt } from "../../../src/transfer/import/formats/kutt.ts";
import { linkledger } from "../../../src/transfer/import/formats/linkledger.ts";
import { plainCsv } from "../../../src/transfer/import/formats/plain-csv.ts";
import { shlink } from "../../../src/transfer/import/formats/shlink.ts";
import { yourls } from "../../../src/transfer/import/formats/yourls.ts";
import type { FieldList, ImportFormat } from "../../../src/transfer/import/imported.ts";
import type { ImportReport } from "../../../src/transfer/import/run-import.ts";
import { openCommandDeps } from "../../support/commands/command-deps.ts";
import { imported, newAccount } from "../../support/import/importing.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const FILES = fileURLToPath(new URL("../../fixtures/imports/whole/", import.meta.url));
const HOST = "go.example.org";
/** A line of our own export. */
const OWN = {
  ...{ type: "link", domain: null, slug: "one1", long_url: "https://example.com/", status: "live" },
  ...{ created_at: "2024-03-01T10:00:00.000Z", via: "web", custom: true, options: {}, changes: [] },
};

let open: Awaited<ReturnType<typeof openCommandDeps>>;
let folder: TemporaryFolder;
let accountId: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  open = await openCommandDeps();
  ({ accountId } = await newAccount(open.deps, HOST));
});
afterEach(async () => {
  await open.close();
  await folder.remove();
});

type Given = { clicks?: string; dryRun?: boolean };
async function run(format: ImportFormat, file: string, { clicks, dryRun = false }: Given = {}) {
  return await imported(open.deps, accountId, format, ownFiles.source(resolve(FILES, file)), {
    clicks: clicks === undefined ? undefined : ownFiles.source(clicks),
    dryRun,
  });
}

const linkOf = async (host: string, slug: string) =>
  (await currentLink(open.deps.eventStore, { host, slug })) as ExistingLink;

/** What the API answers of it, without what any link has. */
async function carried(host: string, slug: string) {
  const {
    slug: _,
    short_url,
    qr_download_url,
    custom_domain,
    domain_id,
    rules,
    ...rest
  } = linkObject(await linkOf(host, slug), open.deps.baseUrl);
  return { ...rest, ...(rules && { rules: rules.map(({ id: _, ...rule }) => rule) }) };
}

async function passwordFits(host: string, slug: string, password: string): Promise<boolean> {
  const { passwordId = "" } = await linkOf(host, slug);
  return (await isLinkPassword(open.deps, passwordId, password)) === true;
}

const WHOLES = {
  bitly: [bitly, "bitly.json", "../bitly.csv"],
  dub: [dub, "dub.json", "dub.csv"],
  kutt: [kutt, "kutt.json", "kutt-links.csv"],
  shlink: [shlink, "shlink.json"],
  yourls: [yourls, "yourls.tsv", "yourls-stats.json"],
  csv: [plainCsv, "plain.csv"],
} as const satisfies Record<string, readonly [ImportFormat, ...string[]]>;

describe("the report of an import", () => {
  it.each(Object.entries(WHOLES))("accounts for every field of %s", async (_, [format, ...files]) => {
    const reported: ImportReport["fields"] = {};
    for (const file of files) Object.assign(reported, (await run(format, file)).fields);
    const { mapped, leftOut, refused }: FieldList = format.fields;
    const unaccounted = Object.entries(reported).filter(
      ([, { records: _, ...fate }]) => Object.keys(fate).length !== 1,
    );
    expect(unaccounted).toEqual([]);
    // So that nothing in the lists is there in name only.
    const isReported = (name: string) => name in reported;
    // Fields of our own table are each imported as a cell, in test/api/link-fields.test.ts.
    const isOwnField = (name: string) => format === plainCsv && name in LINK_FIELDS;
    const unread = Object.values(mapped).filter((names) => !names.some(isReported));
    expect(unread.filter((names) => !names.some(isOwnField))).toEqual([]);
    expect(Object.keys(refused).filter((name) => !isReported(name))).toEqual([]);
    if (format !== bitly) return;
    expect(reported).toMatchObject({
      long_url: { records: 4, becomes: "url" },
      archived: { records: 1, left_out: expect.stringContaining("redirects them as ever") },
      deeplinks: { records: 1, refused: expect.stringContaining("apps") },
    });
    expect(Object.keys(leftOut).filter((name) => !isReported(name))).toEqual([]);
  });

  it("names what nobody told us of, with how many links have it", async () => {
    const file = join(folder.path, "links.json");
    const link = { keyword: "one1", url: "https://example.com/", hue: "red", "a\u001b[2Jb": 1 };
    const more = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`m${n}`, n + 1]));
    await writeFile(
      file,
      [link, { ...link, keyword: "two2" }, { ...link, ...more }].map((one) => JSON.stringify(one)).join(""),
    );
    const { fields, links } = await run(yourls, file);
    expect(links).toMatchObject({ created: 2, already: 1 });
    expect(fields).toMatchObject({ hue: { records: 3 }, keyword: { records: 3, becomes: "slug" } });
    expect(Object.keys(fields).length).toBeLessThan(600);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
    expect(Object.keys(fields).join()).not.toMatch(/\u001b/);
  });

  it("says which texts are shortened, as a link is worth more than its title", async () => {
    const file = join(folder.path, "links.csv");
    const tags = Array.from({ length: 12 }, (_, n) => `tag ${n}`).join();
    await writeFile(file, `url,slug,title,tags\nhttps://example.com/,long,${"t".repeat(300)},"${tags}"\n`);
    const { links, notes } = await run(plainCsv, file);
    expect(links).toMatchObject({ created: 1 });
    expect(notes.map(({ place, note }) => `${place}: ${note}`)).toEqual([
      "line 2: title shortened",
      "line 2: tags shortened",
    ]);
    expect(await carried("localhost", "long")).toMatchObject({
      title: "t".repeat(200),
      tags: tags.split(",").slice(0, 10),
    });
  });
});

describe("what a link carries", () => {
  it("comes from Shlink with its rules, and without the visits that were made", async () => {
    const { links, errors } = await run(shlink, "shlink.json");
    expect(links).toMatchObject({ created: 2, failed: 4 });
    expect(await carried(HOST, "whole")).toEqual({
      long_url: "https://example.com/whole?a=b",
      created_at: "2024-03-01T09:00:00.000Z",
      title: "The whole thing",
      tags: ["spring", "news letter"],
      active_from: "2024-03-01T23:00:00.000Z",
      expires_at: "2999-03-31T22:00:00.000Z",
      max_clicks: 60,
      forward_query: "visitor",
      rules: [
        { when: { os: ["Android"], language: ["en-us"], country: ["DE"] }, url: "https://example.com/first" },
        {
          when: {
            query: { beta: true, plain: "", ref: "shop" },
            from: "2024-02-29T23:00:00.000Z",
            to: "2998-02-28T23:00:00.000Z",
          },
          url: "https://example.com/second",
        },
        { when: { device: ["mobile", "tablet"] }, url: "https://example.com/third" },
      ],
    });
    expect(await carried("localhost", "old")).toMatchObject({
      rules: [
        { when: { os: ["Android"] }, url: "https://example.com/android" },
        { when: { os: ["iOS"] }, url: "https://example.com/ios" },
      ],
    });
    expect(await carried("localhost", "old")).toMatchObject({ max_clicks: 10 });
    // All its visits were made there.
    expect(await linkOf("localhost", "old")).toMatchObject({ status: "disabled" });
    expect(errors.map(({ error }) => error)).toEqual([
      expect.stringContaining("ip-address"),
      expect.stringContaining("geolocation-city-name"),
      expect.stringContaining("not in the file"),
      expect.stringContaining("several conditions on language"),
    ]);
  });

  it("has as many visits as at Shlink, where those that were made come with it", async () => {
    const log = join(folder.path, "visits.ndjson");
    await writeFile(log, '{"shortCode":"Whole","domain":"go.example.org","date":"2024-03-03T10:00:00Z"}\n');
    const { clicks } = await run(shlink, "shlink.json", { clicks: log });
    expect(clicks).toMatchObject({ created: 1, only_totals: 39 + 10 });
    expect(await carried(HOST, "whole")).toMatchObject({ max_clicks: 100 });
    expect(await linkOf("localhost", "old")).toMatchObject({ status: "disabled", maxClicks: 10 });
  });

  it("comes from Kutt, but for a password, of which there is a bcrypt hash", async () => {
    const { links, errors } = await run(kutt, "kutt.json");
    expect(links).toMatchObject({ created: 1, failed: 1 });
    expect(errors).toMatchObject([{ place: "record 2", error: expect.stringContaining("bcrypt") }]);
    expect(await carried(HOST, "whole")).toEqual({
      long_url: "https://example.com/whole",
      created_at: "2024-03-01T10:00:00.123Z",
      comments: "Asked for by sales",
      expires_at: "2999-04-01T00:00:00.000Z",
    });
    expect(await linkOf(HOST, "whole")).toMatchObject({ status: "disabled" });
  });

  it("comes from YOURLS, whose 0000-00-00 is no time", async () => {
    expect((await run(yourls, "yourls.tsv")).links).toMatchObject({ created: 2, failed: 0 });
    expect(await carried("localhost", "whole")).toMatchObject({ title: 'The "whole" thing' });
    const undated = await carried("localhost", "undated");
    expect(undated).not.toHaveProperty("title");
    expect(Date.now() - Date.parse(undated.created_at)).toBeLessThan(60_000);
    await run(yourls, "yourls-stats.json");
    expect(await carried("localhost", "stats")).toMatchObject({ title: "Of the API" });
  });

  it("comes from Bitly to each address that its link has", async () => {
    const { links, clicks, hosts, errors } = await run(bitly, "bitly.json");
    expect(links).toMatchObject({ read: 5, created: 4, failed: 1 });
    expect(clicks.only_totals).toBe(40);
    expect(hosts).toEqual({ localhost: 3, [HOST]: 1 });
    expect(errors).toMatchObject([{ place: "record 2", error: expect.stringContaining("deeplinks") }]);
    const same = {
      long_url: "https://example.com/whole",
      created_at: "2024-03-01T10:00:00.000Z",
      title: "The whole thing",
      tags: ["spring", "news letter"],
    };
    for (const [host, slug] of [
      ["localhost", "3whole"],
      ["localhost", "spring"],
      [HOST, "spring"],
    ] as const)
      expect(await carried(host, slug)).toEqual(same);
    expect(await linkOf("localhost", "gone")).toMatchObject({ status: "deleted" });
  });

  it("comes from Dub with its password, and what Dub decides by device, country and test", async () => {
    expect((await run(dub, "dub.json")).links).toMatchObject({ created: 2, failed: 0 });
    expect(await carried(HOST, "whole")).toEqual({
      long_url:
        "https://example.com/whole?utm_source=dub&utm_medium=print&utm_campaign=spring&utm_term=shoes&utm_content=top",
      created_at: "2024-03-01T10:00:00.000Z",
      title: "The whole thing",
      comments: "Asked for by sales",
      tags: ["spring", "news, letter"],
      external_id: "order-4711",
      expires_at: "2999-04-01T00:00:00.000Z",
      expired_url: "https://example.com/over",
      has_password: true,
      forward_query: "visitor",
      rules: [
        { when: { os: ["iOS"] }, url: "https://example.com/ios" },
        { when: { os: ["Android"] }, url: "https://example.com/android" },
        { when: { country: ["DE", "AT"] }, url: "https://example.com/de" },
        { when: { country: ["FR"] }, url: "https://example.com/fr" },
        {
          when: { share: 40, to: "2998-03-01T00:00:00.000Z" },
          url: "https://example.com/whole?utm_source=dub",
        },
        { when: { share: 60, to: "2998-03-01T00:00:00.000Z" }, url: "https://example.com/b" },
      ],
    });
    expect(await linkOf(HOST, "whole")).toMatchObject({ status: "disabled" });
    expect(await passwordFits(HOST, "whole", "open sesame")).toBe(true);
    expect(await passwordFits(HOST, "whole", "open")).toBe(false);
    // Its test has ended; archived links are live at Dub.
    expect(await carried("localhost", "ended")).toEqual({
      long_url: "https://example.com/winner",
      created_at: "2024-02-01T10:00:00.000Z",
      forward_query: "visitor",
    });
  });

  it("comes from the table that Dub's dashboard exports", async () => {
    await run(dub, "dub.csv");
    expect(await carried(HOST, "table")).toEqual({
      long_url: "https://example.com/table?a=b,c",
      created_at: "2024-03-01T10:00:00.000Z",
      tags: ["spring", "letter"],
      external_id: "order-4711",
      forward_query: "visitor",
    });
    expect(await linkOf(HOST, "table")).toMatchObject({ status: "live" });
  });

  it("comes from a table of one's own, and what a link can't have is refused with the column's name", async () => {
    const { links, errors } = await run(plainCsv, "plain.csv");
    expect(links).toMatchObject({ created: 3, failed: 7 });
    expect(await carried(HOST, "whole")).toEqual({
      long_url: "https://example.com/whole",
      created_at: "2024-03-01T10:00:00.000Z",
      title: 'The "whole" thing',
      comments: "Asked for\nby sales",
      tags: ["spring", "letter"],
      external_id: "order-4711",
      active_from: "2024-03-02T00:00:00.000Z",
      expires_at: "2999-04-01T00:00:00.000Z",
      expired_url: "https://example.com/over",
      max_clicks: 100,
      has_password: true,
      redirect_code: 307,
      forward_query: true,
      rules: [{ when: { os: ["iOS"], share: 50 }, url: "https://example.com/app" }],
    });
    expect(await linkOf(HOST, "whole")).toMatchObject({ status: "disabled" });
    expect(await passwordFits(HOST, "whole", "open sesame")).toBe(true);
    expect(Object.keys(await carried("localhost", "least"))).toEqual(["long_url", "created_at"]);
    const hash = linkPasswordSecret((await linkOf("localhost", "hash")).passwordId ?? "");
    expect(await open.deps.secrets.get(hash, new Date())).toMatch(/^\$argon2id\$/);
    expect(errors.map(({ place, error }) => `${place}: ${error}`)).toEqual([
      "line 6: its password is a bcrypt hash, which links here can't use",
      "line 7: its password is no argon2id hash of a usual cost",
      "line 8: ten is not a number",
      "line 9: redirect_code must be one of 301, 302, 307, 308",
      "line 10: forward_query is neither true nor false",
      expect.stringContaining('line 11: rules.0.when can\'t have "city": it takes device, os, '),
      "line 12: active_from must be before expires_at",
    ]);
  });

  it("is in no secret after a dry run", async () => {
    await run(dub, "dub.json", { dryRun: true });
    expect(await open.deps.secrets.list(linkPasswordSecret(""), new Date())).toEqual([]);
  });
});

describe("two sources that want one slug", () => {
  it("are two links: the second fails, and its clicks don't land on the first", async () => {
    const [links, log] = [join(folder.path, "links.csv"), join(folder.path, "log.csv")];
    await writeFile(links, "keyword,url,timestamp\nspring,https://example.com/theirs,2019-01-01 10:00:00\n");
    await writeFile(log, "click_id,click_time,shorturl\n1,2021-02-03 10:00:00,spring\n");
    await run(bitly, "bitly.json");
    const report = await run(yourls, links, { clicks: log });
    expect(report.links).toMatchObject({ created: 0, already: 0, failed: 1 });
    expect(report.clicks).toMatchObject({ created: 0, skipped: 1 });
    expect(report.errors).toMatchObject([{ error: expect.stringContaining("spring already exists") }]);
    // The first is found as ever.
    expect((await run(bitly, "bitly.json")).links).toMatchObject({ created: 0, already: 4 });
  });

  it.each([
    [
      "two instances of YOURLS",
      yourls,
      ["keyword,url,timestamp", "one1,https://example.com/,2019-01-01 10:00:00"],
      ...["2019", "2020"],
    ],
    [
      "two domains of Kutt's table",
      kutt,
      ["id,address,target,domain_id", "1,one1,https://example.com/,7"],
      ...[",7", ",8"],
    ],
    [
      "two hosts of Shlink",
      shlink,
      ['{"longUrl":"https://example.com/","shortCode":"one1","shortUrl":"https://a.example/one1"}'],
      ...["a.example", "b.example"],
    ],
    ["two instances of ours", linkledger, [JSON.stringify(OWN)], "2024", "2023"],
  ] as const)("are told apart: %s", async (_, format, lines, told, other) => {
    const [first, second] = [join(folder.path, "first"), join(folder.path, "second")];
    await writeFile(first, lines.join("\n"));
    await writeFile(second, lines.join("\n").replaceAll(told, other));
    expect((await run(format, first)).links).toMatchObject({ created: 1 });
    const { links, errors } = await run(format, second);
    expect(links).toMatchObject({ created: 0, already: 0, failed: 1 });
    expect(errors).toMatchObject([{ error: expect.stringContaining("one1 already exists") }]);
    expect((await run(format, first)).links).toMatchObject({ created: 0, already: 1, failed: 0 });
  });
});

describe("the guide to imports", () => {
  const guide = readFileSync(new URL("../../../docs/import.md", import.meta.url), "utf8");

  it("names what each format takes and what makes a link fail", () => {
    const rowOf = (name: string) =>
      guide.split("\n").findLast((line) => line.startsWith(`| \`${name}\` |`)) ?? "";
    for (const [name, [format]] of Object.entries(WHOLES).filter(([name]) => name !== "csv")) {
      const { mapped, refused }: FieldList = format.fields;
      const { clicks: _, links_of_visits: _ids, ...taken } = mapped;
      const named = (field: string) => rowOf(name).includes(field.split(".")[0] as string);
      expect(Object.keys(refused).filter((field) => !named(field))).toEqual([]);
      expect(Object.entries(taken).flatMap(([word, names]) => (names.some(named) ? [] : [word]))).toEqual([]);
    }
  });

  it("has a table of one's own with columns of every kind, which is imported as it stands", async () => {
    const [table = ""] = /^url,slug,.*\n(?:http.*\n)+/m.exec(guide) ?? [];
    const columns = table.split("\n")[0]?.split(",") ?? [];
    expect(Object.keys(plainCsv.fields.mapped)).toEqual(expect.arrayContaining(columns));
    const isLeftOut = (name: string) => !columns.includes(name) && !(name in LINK_FIELDS);
    expect(Object.keys(plainCsv.fields.mapped).filter(isLeftOut)).toEqual([]);
    const file = join(folder.path, "table.csv");
    await writeFile(file, table);
    expect(await run(plainCsv, file)).toMatchObject({
      links: { created: 1, failed: 0 },
      hosts: { [HOST]: 1 },
    });
  });
});
