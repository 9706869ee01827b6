// Imports of other services' files: what becomes of each record, what is unknown, and what a repetition does.

import { randomUUID } from "node:crypto";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ownFiles } from "../../../src/cli/files.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import type { EventOf, LinkEvent } from "../../../src/events/catalogue.ts";
import { PRESENT_RULES } from "../../../src/events/classification/classify.ts";
import { readEvent } from "../../../src/events/read-event.ts";
import { CATEGORY, isImportedClick, linkStream } from "../../../src/events/streams.ts";
import { categoryOf } from "../../../src/stores/event-store/categories.ts";
import { bitly } from "../../../src/transfer/import/formats/bitly.ts";
import { kutt } from "../../../src/transfer/import/formats/kutt.ts";
import { linkledger } from "../../../src/transfer/import/formats/linkledger.ts";
import { shlink } from "../../../src/transfer/import/formats/shlink.ts";
import { yourls } from "../../../src/transfer/import/formats/yourls.ts";
import type { ImportFormat } from "../../../src/transfer/import/imported.ts";
import { verified } from "../../support/audit/verified.ts";
import { openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import { imported, newAccount, ownDomain } from "../../support/import/importing.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

type Click = EventOf<"LinkClicked">["data"];
/** Of a visitor. */
const CODE = /^[0-9a-f]{16}$/;
const FILES = fileURLToPath(new URL("../../fixtures/imports/", import.meta.url));

let open: Awaited<ReturnType<typeof openCommandDeps>>;
let folder: TemporaryFolder;
let accountId: string;
beforeEach(async () => {
  open = await openCommandDeps();
  folder = await temporaryFolder();
  ({ accountId } = await newAccount(open.deps));
});
afterEach(async () => {
  await open.close();
  await folder.remove();
});

type Given = { clicks?: string; domain?: string; dryRun?: boolean; keyId?: string };
async function run(format: ImportFormat, links: string, { clicks, ...given }: Given = {}) {
  const source = (file: string) => ownFiles.source(resolve(FILES, file));
  const ofClicks = clicks === undefined ? undefined : source(clicks);
  return await imported(open.deps, accountId, format, source(links), { clicks: ofClicks, ...given });
}

async function events(category: string) {
  const found = await loggedEvents(open.deps.eventStore, { categories: [category], limit: 10_000 });
  return found.map((event) => readEvent(event)?.data);
}
const links = async () => (await events(CATEGORY.link)) as LinkEvent["data"][];
const clicks = async () => (await events(CATEGORY.clicks)) as Click[];

describe("an import from Bitly", () => {
  it("creates links with their slugs and times, and says of the others why not", async () => {
    const domainId = await ownDomain(open.deps, accountId, "go.example.org");
    const report = await run(bitly, "bitly.csv");
    expect(report.links).toEqual({ read: 4, created: 2, already: 0, failed: 2 });
    expect(report.errors.map(({ place, error }) => `${place}: ${error}`)).toEqual([
      expect.stringMatching(/^line 3: .*3spring.*/),
      expect.stringMatching(/^line 4: Invalid URL/),
    ]);
    expect(await links()).toEqual([
      {
        ...{ host: "localhost", slug: "3spring", accountId, via: "web", custom: true },
        at: "2023-05-06T07:08:09.000Z",
        longUrl: "https://example.com/spring?utm_source=bitly",
        shortUrl: "http://localhost:3000/3spring",
        title: "Spring",
      },
      expect.objectContaining({ host: "go.example.org", slug: "brand", domainId }),
    ]);
    expect(report.hosts).toEqual({ localhost: 1, "go.example.org": 1 });
  });

  it("makes no clicks out of totals, and says how many there were", async () => {
    const { clicks: counted } = await run(bitly, "bitly.csv");
    expect(counted).toMatchObject({ created: 0, only_totals: 1_204 });
    expect(await clicks()).toEqual([]);
  });

  it("reads the answers of its API too", async () => {
    await run(bitly, "bitly.json");
    expect(await links()).toMatchObject([{ slug: "3spring", at: "2023-05-06T07:08:09.000Z" }]);
  });

  it("creates all links on one domain, and for a key, when told so", async () => {
    await ownDomain(open.deps, accountId, "go.example.org");
    const keyId = open.deps.newId();
    const { hosts } = await run(bitly, "bitly.csv", { domain: "go.example.org", keyId });
    expect(hosts).toEqual({ "go.example.org": 2 });
    expect(await links()).toMatchObject([
      { slug: "3spring", via: "api", keyId, shortUrl: "https://go.example.org/3spring" },
      { slug: "brand", via: "api", keyId },
    ]);
  });
});

describe("an import from YOURLS", () => {
  it("keeps the clicks' times, and anonymises addresses before anything is written", async () => {
    const report = await run(yourls, "yourls.csv", { clicks: "yourls-log.csv" });
    expect(report.links).toMatchObject({ created: 2, failed: 1 });
    expect(report.clicks).toEqual({
      ...{ read: 5, created: 3, already: 0, failed: 1, skipped: 1 },
      only_totals: 1,
    });
    const recorded = await loggedEvents(open.deps.eventStore, { categories: [CATEGORY.clicks], limit: 10 });
    // Where webhooks pass them over.
    expect(recorded.map(({ stream }) => isImportedClick(stream))).toEqual([true, true, true]);
    const [firefox, bot, unknown] = await clicks();
    const always = { linkRevision: 0, accountId, via: "web", rules: PRESENT_RULES, method: "GET" };
    const visitors = { visitor: expect.stringMatching(CODE), accountVisitor: expect.stringMatching(CODE) };
    expect(firefox).toEqual({
      ...{ ...always, ...visitors, link: "localhost/ozh", longUrl: expect.any(String) },
      ...{ at: "2019-03-01T10:00:00.000Z", kind: "click", ip: "203.0.113.0", country: "FR" },
      userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
      ...{ device: "desktop", browser: { name: "Firefox", version: "128.0" }, os: { name: "Linux" } },
      utm: { campaign: "old" },
    });
    expect(bot).toMatchObject({
      kind: "preview",
      device: "bot",
      referrer: "https://www.example.net/page",
    });
    expect(unknown).toEqual({
      ...{ ...always, link: "localhost/1", longUrl: expect.any(String) },
      ...{ at: "2019-03-02T10:00:00.000Z", kind: "click", device: "unknown" },
    });
    const log = JSON.stringify([await links(), await clicks()]);
    expect(log).not.toMatch(/203\.0\.113\.7|private=1/);
    expect(await verified(open.deps.eventStore)).toMatchObject({ problems: [] });
  });

  it("refuses links and clicks of days that no calendar has, and takes no click twice", async () => {
    const [file, log] = [join(folder.path, "links.csv"), join(folder.path, "log.csv")];
    const url = "https://example.com/";
    await writeFile(
      file,
      `keyword,url,timestamp\none1,${url},2020-02-28 10:00:00\ntwo2,${url},2020-02-31 10:00:00\n`,
    );
    const clicked = ["1,2020-02-31 10:00:00", "2,2020-02-29 24:30:00", "3,2020-02-29 10:00:00"];
    const rows = [...clicked, clicked[2]].map((row) => `${row},one1`);
    await writeFile(log, ["click_id,click_time,shorturl", ...rows].join("\n"));
    const report = await run(yourls, file, { clicks: log });
    expect(report.links).toMatchObject({ created: 1, failed: 1 });
    expect(report.clicks).toMatchObject({ created: 1, already: 1, failed: 2 });
    expect(report.errors.map(({ error }) => error)).toEqual([
      ...["2020-02-31 10:00:00", "2020-02-31 10:00:00", "2020-02-29 24:30:00"].map(
        (at) => `${at} is not a time`,
      ),
    ]);
    expect(await clicks()).toMatchObject([{ at: "2020-02-29T10:00:00.000Z" }]);
  });
});

describe("an import from Kutt", () => {
  it("knows of a click what all clicks of its hour have in common", async () => {
    const report = await run(kutt, "kutt.json", { clicks: "kutt-visits.csv" });
    expect(report.clicks).toMatchObject({ read: 4, created: 4, only_totals: 7 });
    const [one, two, three, alone] = await clicks();
    expect(one).toEqual({
      ...{ link: expect.any(String), longUrl: expect.any(String), linkRevision: 0, accountId, via: "web" },
      ...{ at: "2022-03-01T10:00:00.000Z", kind: "click", rules: PRESENT_RULES, method: "GET" },
      ...{ country: "FR", device: "desktop", os: { name: "Windows" }, referrer: "unknown" },
    });
    expect([two, three]).toEqual([one, one]);
    const { country: _, os: _os, ...common } = one as Click;
    expect(alone).toEqual({
      ...{ ...common, at: "2022-03-01T11:00:00.000Z", device: "unknown", os: { name: "iOS" } },
      referrer: "https://news.example.com/",
    });
  });

  it("reads hours whose countries are null", async () => {
    const visits = join(folder.path, "visits.csv");
    const given = await readFile(join(FILES, "kutt-visits.csv"), "utf8");
    await writeFile(visits, given.replace(/"\{""[a-z]{2}"".*?\}"/, "null"));
    const { clicks: counted } = await run(kutt, "kutt.json", { clicks: visits });
    expect(counted).toMatchObject({ read: 4, created: 4, failed: 0 });
  });

  it("refuses what would become public, and keeps when a link ends, or has ended", async () => {
    const { errors } = await run(kutt, "kutt.json");
    expect(errors.map(({ error }) => error)).toEqual([expect.stringContaining("bcrypt")]);
    expect(await links()).toMatchObject([
      { slug: "kutt1" },
      { slug: "ended", expiresAt: "2022-02-02T03:04:05.000Z" },
      { slug: "ends", expiresAt: "2999-02-02T03:04:05.000Z" },
    ]);
  });
});

describe("an import from Shlink", () => {
  it("reads totals that are written with commas", async () => {
    const file = join(folder.path, "short-urls.json");
    const link = { shortCode: "one1", longUrl: "https://example.com/", visitsCount: "1,234" };
    await writeFile(file, JSON.stringify([link]));
    expect((await run(shlink, file)).clicks.only_totals).toBe(1_234);
  });

  it("has visits with their places, and tells equal ones apart", async () => {
    const report = await run(shlink, "shlink.json", { clicks: "shlink-visits.ndjson" });
    expect(report).toMatchObject({
      links: { created: 2, failed: 0 },
      clicks: { read: 5, created: 4, only_totals: 1 },
    });
    expect(report.errors.at(-1)).toMatchObject({ place: "line 5" });
    expect(await clicks()).toMatchObject([
      { at: "2021-07-01T10:00:00.000Z", city: "Frankfurt", region: "Hesse", device: "mobile" },
      { kind: "preview" },
      { kind: "click" },
      { kind: "click" },
    ]);
    for (const click of (await clicks()).slice(2)) expect(Object.keys(click)).not.toContain("userAgent");
  });
});

describe("any import", () => {
  it("creates nothing twice when it is repeated, and what is missing when the file has grown", async () => {
    const [file, log] = [join(folder.path, "links.csv"), join(folder.path, "log.csv")];
    await copyFile(join(FILES, "yourls.csv"), file);
    const lines = (await readFile(join(FILES, "yourls-log.csv"), "utf8")).split("\n");
    await writeFile(log, lines.slice(0, 2).join("\n"));
    expect((await run(yourls, file, { clicks: log })).clicks).toMatchObject({ created: 1, already: 0 });
    await writeFile(log, lines.join("\n"));
    for (const [created, already] of [
      [2, 1],
      [0, 3],
    ]) {
      const report = await run(yourls, file, { clicks: log });
      expect(report.links).toMatchObject({ created: 0, already: 2 });
      expect(report.clicks).toMatchObject({ created, already });
    }
    expect(await clicks()).toHaveLength(3);
  });

  it("writes nothing in a dry run, and reports what it would do", async () => {
    const before = await open.deps.eventStore.head();
    const dry = await run(yourls, "yourls.csv", { clicks: "yourls-log.csv", dryRun: true });
    expect(await open.deps.eventStore.head()).toBe(before);
    expect(await run(yourls, "yourls.csv", { clicks: "yourls-log.csv" })).toEqual(dry);
  });

  it.each([
    ["JSON lines", '{"keyword":"one1","url":"https://example.com/"}', ['{"keyw', "null", "7", "[[]]"]],
    ["CSV", "keyword,url\none1,https://example.com/", ['two2,"https://example.com/ "x" y"', 'bad,a"b']],
  ])("counts the records of %s that can't be read, and imports all others", async (_, first, unreadable) => {
    const [file, last] = [join(folder.path, "links"), first.split("\n").at(-1)?.replace("one1", "three3")];
    await writeFile(file, [first, ...unreadable, last].join("\n"));
    const { links: counted, errors } = await run(yourls, file);
    expect(counted).toEqual({
      read: 2 + unreadable.length,
      created: 2,
      already: 0,
      failed: unreadable.length,
    });
    const line = first.split("\n").length + 1;
    expect(errors.map(({ place }) => place.replace(/, .*/, ""))).toEqual(
      unreadable.map((_, n) => `line ${line + n}`),
    );
    expect(await links()).toMatchObject([{ slug: "one1" }, { slug: "three3" }]);
  });

  it("keeps what it has imported when the file of clicks can't be read", async () => {
    const broken = join(folder.path, "visits.json");
    await writeFile(broken, '{"data": [\n{"link_id": 1},\n');
    const report = await run(kutt, "kutt.json", { clicks: broken });
    expect(report).toMatchObject({ links: { created: 3, failed: 1 }, clicks: { read: 1, failed: 1 } });
    expect(report.errors.at(-1)).toMatchObject({ file: broken, place: "document" });
  });

  it("goes on where another import of the account has appended meanwhile, and takes no click twice", async () => {
    const [file, log, other] = [
      join(folder.path, "links.csv"),
      join(folder.path, "log.csv"),
      join(folder.path, "other.csv"),
    ];
    await writeFile(file, "keyword,url\none1,https://example.com/\n");
    const head = "click_id,click_time,shorturl\n";
    await writeFile(log, `${head}1,2021-02-03 10:00:00,one1\n2,2021-02-03 11:00:00,one1\n`);
    await writeFile(other, `${head}2,2021-02-03 11:00:00,one1\n`);
    const { eventStore } = open.deps;
    const append = eventStore.append.bind(eventStore);
    const meanwhile = vi.spyOn(eventStore, "append").mockImplementation(async (stream, ...given) => {
      if (categoryOf(stream) === CATEGORY.clicks) {
        meanwhile.mockRestore();
        await run(yourls, file, { clicks: other });
      }
      return await append(stream, ...given);
    });
    const report = await run(yourls, file, { clicks: log });
    expect(report).toMatchObject({ clicks: { created: 1, already: 1, failed: 0 }, errors: [] });
    expect(await clicks()).toHaveLength(2);
  });

  it("says of a link whose stream can't be read that it can't, and imports all others", async () => {
    const file = join(folder.path, "links.csv");
    await writeFile(file, "keyword,url\none1,https://example.com/\n");
    await run(yourls, file);
    const unknown = { id: randomUUID(), type: "LinkPainted", data: {}, metadata: { schemaVersion: 1 } };
    await open.deps.eventStore.append(linkStream("localhost", "one1"), 0, [unknown]);
    await writeFile(file, "keyword,url\none1,https://example.com/\ntwo2,https://example.com/\n");
    const report = await run(yourls, file);
    expect(report.links).toEqual({ read: 2, created: 1, already: 0, failed: 1 });
    expect(report.errors).toMatchObject([{ place: "line 2", error: expect.stringContaining("LinkPainted") }]);
  });

  it("leaves a link alone that somebody made here, and one that was changed after its import", async () => {
    await run(yourls, "yourls.csv");
    const other = await openAccount(open.deps, operator, { email: "b@example.com", tier: "free" });
    accountId = other.accountId;
    const report = await run(yourls, "yourls.csv");
    expect(report.links).toMatchObject({ created: 0, already: 0, failed: 3 });
  });
});

describe("an import from another instance", () => {
  it("says of records that are of no account's export, such as a table of clicks, that it can't read them", async () => {
    const file = join(folder.path, "clicks.ndjson");
    const rows = [
      { type: "linkledger-export", version: 1 },
      { type: "preview" },
      { type: "qr_scan" },
      { name: "x" },
    ];
    await writeFile(file, rows.map((row) => JSON.stringify(row)).join("\n"));
    const report = await run(linkledger, file);
    expect(report.clicks).toMatchObject({ read: 3, failed: 3 });
    expect(report.errors.map(({ place }) => place)).toEqual(["line 2", "line 3", "line 4"]);
  });
});
