// A file is taken for what is in it: part of an answer isn't the whole, nothing isn't success, and columns without names are
// told by what they hold.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CommandContext } from "../../../src/commands/caller.ts";
import { isRefused } from "../../../src/commands/refusals.ts";
import { bitly } from "../../../src/transfer/import/formats/bitly.ts";
import { dub } from "../../../src/transfer/import/formats/dub.ts";
import { kutt } from "../../../src/transfer/import/formats/kutt.ts";
import { linkledger } from "../../../src/transfer/import/formats/linkledger.ts";
import { plainCsv } from "../../../src/transfer/import/formats/plain-csv.ts";
import { shlink } from "../../../src/transfer/import/formats/shlink.ts";
import { yourls } from "../../../src/transfer/import/formats/yourls.ts";
import type { ImportFormat } from "../../../src/transfer/import/imported.ts";
import { textSource } from "../../../src/transfer/import/reading/lines.ts";
import { pageTally } from "../../../src/transfer/import/reading/page-tally.ts";
import { readRows } from "../../../src/transfer/import/reading/read-rows.ts";
import { openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { imported, newAccount } from "../../support/import/importing.ts";

const SITE = "https://example.com/";
const HOST = "xn--mller-kva.example";

let open: Awaited<ReturnType<typeof openCommandDeps>>;
let accountId: string;
beforeAll(async () => {
  open = await openCommandDeps();
  ({ accountId } = await newAccount(open.deps, HOST));
});
afterAll(() => open.close());

type Given = {
  context?: CommandContext;
  domain?: string;
  dryRun?: boolean;
  asked?: number[];
  clicks?: string;
};
async function run(format: ImportFormat, content: string, { asked, clicks, ...given }: Given = {}) {
  const { deps } = open;
  const urlSafety = async (urls: readonly URL[]) => {
    asked?.push(urls.length);
    return (await deps.urlSafety(urls)) as ("safe" | "unsafe")[];
  };
  return await imported({ ...deps, urlSafety }, accountId, format, textSource("links", content), {
    clicks: clicks === undefined ? undefined : textSource("clicks", clicks),
    dryRun: true,
    ...given,
  });
}

describe("pages of an API", () => {
  const rows = Array.from({ length: 12 }, (_, n) => ({ n }));
  type Of = { page: number; pages: number; total: number };
  const SHAPES = {
    shlink: (data: object[], { page, pages, total }: Of) => ({
      shortUrls: { data, pagination: { currentPage: page, pagesCount: pages, totalItems: total } },
    }),
    "shlink without a sum": (data: object[], { page, pages }: Of) => ({
      shortUrls: { data, pagination: { currentPage: page, pagesCount: pages } },
    }),
    bitly: (links: object[], { page, total }: Of) => ({ links, pagination: { page, total, next: "" } }),
    "bitly by cursor": (links: object[], { page, pages }: Of) => ({
      ...{ links, pagination: { next: page < pages ? `https://api-ssl.bitly.com/${page}` : "" } },
    }),
    "others by cursor": (data: object[], { page, pages }: Of) => ({
      ...{ data, next_cursor: page < pages ? String(page) : null },
    }),
    "others that have more": (links: object[], { page, pages }: Of) => ({
      links,
      meta: { has_more: page < pages },
    }),
    kutt: (data: object[], { total }: Of) => ({ limit: data.length, skip: 0, total, data }),
    yourls: (links: object[], { total }: Of) => ({ links, stats: { total_links: String(total) } }),
  };

  it.each(Object.entries(SHAPES))("of %s are known to be all, or not", async (name, shape) => {
    const size = fc.integer({ min: 1, max: 5 });
    const lacking = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(size, lacking, fc.boolean(), async (size, isLacking, isTwice) => {
        const pages = Math.ceil(rows.length / size);
        const all = Array.from({ length: pages }, (_, n) =>
          shape(rows.slice(n * size, (n + 1) * size), { page: n + 1, pages, total: rows.length }),
        );
        // Of a cursor only the last page tells.
        const isKept = (n: number) => (/cursor|more/.test(name) && n < pages - 1) || !isLacking[n];
        const kept = all.filter((_, n) => isKept(n));
        fc.pre(kept.length > 0);
        const content = [...kept, ...(isTwice ? kept : [])].map((page) => JSON.stringify(page)).join("\n");
        const tally = pageTally();
        await Array.fromAsync(readRows(textSource("f", content), { pages: tally }));
        expect(tally.missing("links") === undefined).toBe(kept.length === pages);
      }),
    );
  });

  it("are said in words where some are missing, and imported as far as they go", async () => {
    const page = {
      shortUrls: { data: [{ shortCode: "one1", longUrl: SITE }], pagination: { totalItems: 5 } },
    };
    expect(await run(shlink, JSON.stringify(page))).toMatchObject({
      links: { created: 1 },
      missing: [{ file: "links", note: "1 of 5 links are in this file" }],
    });
  });
});

describe("a file with nothing to import", () => {
  it.each([
    ["is empty", plainCsv, ""],
    ["is empty", yourls, " \n\r\n"],
    ["has no records", plainCsv, "url,slug\r\n"],
    ["has no records", bitly, "\ufefflong_url,link\n,\n"],
    ["is a page of HTML", kutt, "\n<!DOCTYPE html><html><body>Sign in</body></html>"],
    ["is a page of HTML", plainCsv, '<?xml version="1.0"?><result/>'],
    ["has no records", dub, "[]"],
    ["has no records", bitly, '{"links":[],"pagination":{"total":0}}'],
    ["has no links", linkledger, '{"type":"linkledger-export","version":1}\n'],
  ])("%s: is refused, and that is said", async (what, format, content) => {
    await expect(run(format, content)).rejects.toMatchObject({
      code: "wrong_format",
      message: expect.stringContaining(`links ${what}`),
    });
  });

  it("is never taken for an import: whatever is in it, it has a record, taken or not, or is refused", async () => {
    const formats = fc.constantFrom(bitly, dub, kutt, linkledger, plainCsv, shlink, yourls);
    const part = fc.constantFrom(
      ...[
        "",
        " ",
        "\ufeff",
        "\u200b",
        ",,",
        ";",
        "sep=;",
        "url,slug",
        '"url"',
        '""',
        "#",
        "<html>",
        "null",
        "0",
      ],
      ...[
        "[]",
        "[",
        "{}",
        "{",
        '{"links":[]}',
        '{"data":[{}]}',
        '[{"url":null}]',
        `{"url":"${SITE}"}`,
        `${SITE}a`,
      ],
      ...['{"type":"linkledger-export","version":1}', '{"message":"FORBIDDEN"}', '{"links":{},"stats":{}}'],
    );
    const parts = fc.array(part, { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        formats,
        parts,
        fc.constantFrom("\n", "\r\n", "\r", ""),
        async (format, parts, end) => {
          const read = run(format, parts.join(end)).then(
            ({ links, clicks }) => links.read + clicks.read,
            (error: unknown) => (isRefused(error, "wrong_format") ? 1 : Promise.reject(error)),
          );
          expect(await read).toBeGreaterThan(0);
        },
      ),
    );
  });

  it("is refused before a link is made, where it is that of the clicks", async () => {
    const made = run(yourls, `keyword,url\nnone1,${SITE}\n`, {
      clicks: "shorturl,click_time\n",
      dryRun: false,
    });
    await expect(made).rejects.toThrow("clicks has no records");
    expect(await run(yourls, `keyword,url\nnone1,${SITE}\n`)).toMatchObject({ links: { created: 1 } });
  });
});

describe("a table without a line of column names", () => {
  const slug = fc.stringMatching(/^[a-z][a-z0-9_-]{0,10}$/);
  const pairs = fc.uniqueArray(fc.tuple(slug, fc.webUrl({ withQueryParameters: true })), {
    selector: ([one]) => one,
    minLength: 1,
    maxLength: 6,
  });
  const writing = fc.record({
    delimiter: fc.constantFrom(",", ";", "\t"),
    isSlugFirst: fc.boolean(),
    inQuotes: fc.boolean(),
    before: fc.constantFrom("", "\n", "\r\n \r\n", "\ufeff", "cells"),
    hasSeparatorLine: fc.boolean(),
    header: fc.boolean(),
    end: fc.constantFrom("\n", "\r\n"),
  });

  it("has its addresses and its slugs where it has them", async () => {
    await fc.assert(
      fc.asyncProperty(pairs, writing, async (pairs, form) => {
        const { delimiter, isSlugFirst, inQuotes, before, hasSeparatorLine, header, end } = form;
        const cell = (text: string) => (inQuotes || /[,;\t]/.test(text) ? `"${text}"` : text);
        const lines = [...(header ? [["slug", "url"]] : []), ...pairs].map(([slug = "", url = ""]) =>
          (isSlugFirst ? [slug, url] : [url, slug]).map(cell).join(delimiter),
        );
        const first = hasSeparatorLine ? [`sep=${delimiter}`] : [];
        const mark = hasSeparatorLine && before !== "\ufeff" ? "" : before;
        const above = mark === "cells" ? `${delimiter}${end}""${delimiter}${end}` : mark;
        const content = above + [...first, ...lines].join(end);
        const rows = await Array.fromAsync(readRows(textSource("f", content)));
        const read = rows.map((row) => ("record" in row ? [row.record.slug, row.record.url] : row.error));
        expect(read).toEqual(pairs.map((pair) => [...pair]));
      }),
    );
  });

  it.each([
    ["three columns", `${SITE}a,one1,Title\n${SITE}b,two2,Other\n`],
    ["a column of titles", `"${SITE}a","My title"\n`],
    ["a column of numbers", `${SITE}a,120\n${SITE}b,7\n`],
    ["two columns of addresses", `${SITE}a;${SITE}b\n`],
    ["slugs that are not distinct", `${SITE}a,sale\n${SITE}b,sale\n`],
  ])("is refused where it has %s", async (_, content) => {
    await expect(run(plainCsv, content)).rejects.toThrow("no line of column names");
  });

  it("is a list of addresses where nothing else is in its lines", async () => {
    const list = `;;\n${SITE}a,b.html\n${SITE}\n${SITE}x,y,z\n`;
    const rows = await Array.fromAsync(readRows(textSource("f", list)));
    expect(rows).toMatchObject([
      { place: "line 2", record: { url: `${SITE}a,b.html` } },
      { record: { url: SITE } },
      { record: { url: `${SITE}x,y,z` } },
    ]);
  });
});

describe("a domain in a file", () => {
  it("is the account's own, however it is written, or the row is refused", async () => {
    const written = fc.constantFrom("müller.example", "MÜLLER.example", HOST, "mu\u0308ller.example");
    const dressed = fc.tuple(
      fc.constantFrom("", "https://", "http://", "//"),
      fc.constantFrom("", ".", ":443", ".:443"),
      fc.constantFrom("", "/"),
    );
    await fc.assert(
      fc.asyncProperty(written, dressed, fc.constantFrom("csv", "shlink"), async (host, [a, b, c], name) => {
        const domain = `${a}${host}${b}${c}`;
        const [format, content] =
          name === "csv"
            ? ([plainCsv, `url,slug,domain\n${SITE},one1,${domain}\n`] as const)
            : ([shlink, JSON.stringify([{ longUrl: SITE, shortCode: "one1", domain }])] as const);
        const { hosts, errors } = await run(format, content);
        expect([hosts, errors]).toEqual([{ [HOST]: 1 }, []]);
      }),
    );
    const rows = ["go.example.com", "muller.example", "x y", "https://müller.example/a"].map(
      (domain, n) => `${SITE},n${n}x,${domain}`,
    );
    const { links, errors } = await run(plainCsv, ["url,slug,domain", ...rows, `${SITE},last,`].join("\n"));
    expect(links).toMatchObject({ created: 1, failed: 4 });
    expect(errors[0]).toMatchObject({
      place: "line 2",
      error: expect.stringContaining("go.example.com is no active domain of the account"),
    });
  });

  it("is no matter where all links go to one host; nor are the shared hosts of services", async () => {
    const table = `url,slug,domain\n${SITE},one1,go.example.com\n`;
    expect(await run(plainCsv, table, { domain: "localhost" })).toMatchObject({ hosts: { localhost: 1 } });
    const links = [{ url: SITE, key: "one1", domain: "dub.sh" }];
    expect(await run(dub, JSON.stringify(links))).toMatchObject({ hosts: { localhost: 1 } });
  });
});

describe("the destinations of a file", () => {
  it("are asked about together, those of 500 rows at once", async () => {
    const asked: number[] = [];
    const rows = Array.from({ length: 501 }, (_, n) => `${SITE}${n},ask${n},${SITE}over/${n}`);
    const content = ["url,slug,expired_url", ...rows, "https://bad.example/,bad1,"].join("\n");
    const { links } = await run(plainCsv, content, { asked });
    expect(asked).toEqual([1_000, 3]);
    expect(links).toMatchObject({ created: 501, failed: 1 });
  });
});

describe("two imports of one file", () => {
  it("report what each did, also at once: what one has created is there already for the other", async () => {
    const rows = Array.from({ length: 60 }, (_, n) => `${SITE}${n},twice${n},order-${n}`);
    const content = ["url,slug,external_id", ...rows].join("\n");
    const as = (requestId: string) => ({ dryRun: false, context: { ...operator, requestId } });
    const reports = await Promise.all(["a", "b", "c"].map((id) => run(plainCsv, content, as(id))));
    const sum = (what: "created" | "already" | "failed") =>
      reports.reduce((all, { links }) => all + links[what], 0);
    expect([sum("created"), sum("already"), sum("failed")]).toEqual([60, 120, 0]);
  });
});
