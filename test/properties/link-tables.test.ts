// Links with any texts are the same elsewhere, in whichever of our formats they were exported.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAccount } from "../../src/commands/account/sign-up.ts";
import { fieldsOf } from "../../src/commands/links/fields/link-fields.ts";
import { accountLines, accountLinks } from "../../src/transfer/export/account-lines.ts";
import { COUNTED_HEAD, countedRow, linkTable } from "../../src/transfer/export/link-table.ts";
import { linkledger } from "../../src/transfer/import/formats/linkledger.ts";
import { plainCsv } from "../../src/transfer/import/formats/plain-csv.ts";
import type { ImportFormat } from "../../src/transfer/import/imported.ts";
import { textSource } from "../../src/transfer/import/reading/lines.ts";
import { openCommandDeps, operator } from "../support/commands/command-deps.ts";
import { imported } from "../support/import/importing.ts";
import { effort } from "../support/runtime/effort.ts";

type Stores = Awaited<ReturnType<typeof openCommandDeps>>;
let [from, to]: Stores[] = [];
let runs = 0;
beforeAll(async () => {
  [from, to] = await Promise.all([openCommandDeps(), openCommandDeps()]);
});
afterAll(async () => {
  await Promise.all([from?.close(), to?.close()]);
});

/** Each means something to a spreadsheet, to MySQL, to JSON or to a reader of tables. */
const AWKWARD = [
  ...[
    "NULL",
    "null",
    "\\N",
    "\\n",
    "c:\\new",
    "\\\\",
    '\\"',
    '"',
    '""',
    'a "b"',
    "'",
    "''=1",
    "'=1",
    "'-5 %",
  ],
  ...[
    "=1",
    "-5 % today",
    "@home",
    "+1",
    "\uff1d1",
    "= 1",
    "0000-00-00",
    "true",
    "1.234",
    "[",
    "[1]",
    '["a"]',
    "{}",
  ],
  ...[
    ",",
    ";",
    "a;b,c|d",
    "a, b",
    "|",
    "sep=;",
    "url",
    "https://x.example/a,b",
    "2024-01-01 10:00,x",
    "\ufeffa",
  ],
  ...[
    "a\u2028b",
    "a\u0085b",
    "e\u0301",
    "\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67",
    "\u202eab",
    "a\tb",
    "-",
    "--",
  ],
];
const text = fc.oneof(
  fc.constantFrom(...AWKWARD),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.tuple(fc.constantFrom(...AWKWARD), fc.constantFrom(...AWKWARD)).map((parts) => parts.join("")),
);
const lines = fc.array(text, { maxLength: 3 }).map((all) => all.join("\n"));
const url = fc
  .webUrl({ withQueryParameters: true, withFragments: true })
  .map((href) => `https://example.com/?to=${href}`);
const filled = text.filter((value) => /[\p{L}\p{N}]/u.test(value));
const link = fc.record(
  {
    url,
    title: text,
    comments: lines,
    tags: fc.array(filled, { maxLength: 4 }),
    external_id: filled,
    expired_url: url,
    max_clicks: fc.integer({ min: 1, max: 1_000 }),
    redirect_code: fc.constantFrom(301, 302, 307),
    forward_query: fc.constantFrom(true, "visitor"),
    rules: fc.array(
      fc.record({
        name: filled,
        when: fc.record({ query: fc.dictionary(filled, text, { minKeys: 1 }) }),
        url,
      }),
      { maxLength: 2 },
    ),
    disabled: fc.boolean(),
    created_at: fc.constantFrom("2024-03-01T10:00:00.000Z", "2023-12-31T23:59:59.000Z"),
  },
  { requiredKeys: ["url"] },
);

const reported = ({ deps }: Stores, accountId: string, format: ImportFormat, content: string) =>
  imported(deps, accountId, format, textSource("links", content));

async function open({ deps }: Stores) {
  const email = `a${runs}@example.com`;
  return (await openAccount(deps, operator, { email, tier: "developer" })).accountId;
}

/** By slug: all that a link has, but what differs where it is. */
async function linksOf({ deps }: Stores, accountId: string) {
  const found = new Map<string, object>();
  for await (const { slug, state } of accountLinks(deps, accountId, (error) => expect(error).toBe(""))) {
    const { rules, ...fields } = fieldsOf(state);
    const { longUrl, disabled, createdAt } = state;
    found.set(slug, {
      ...fields,
      rules: rules?.map(({ id: _, ...rule }) => rule),
      longUrl,
      disabled,
      createdAt,
    });
  }
  return found;
}

async function* portalTable({ deps }: Stores, accountId: string) {
  yield COUNTED_HEAD;
  for await (const { host, slug, state, status } of accountLinks(deps, accountId, () => undefined))
    yield countedRow({ ...state, host, slug, status, madeBy: "Kim, the editor", clicks: 3 }, deps.baseHost);
}

const EXPORTS = {
  "JSON lines": [linkledger, (stores: Stores, id: string) => accountLines(stores.deps, id, "links")],
  "a table": [plainCsv, (stores: Stores, id: string) => linkTable(stores.deps, id)],
  "a table for spreadsheets": [
    plainCsv,
    (stores: Stores, id: string) => linkTable(stores.deps, id, { forSpreadsheets: true }),
  ],
  "the portal's table": [plainCsv, portalTable],
} as const;

describe("links with any texts", () => {
  it.each(Object.entries(EXPORTS))(
    "are equal where %s is imported",
    async (_, [format, exported]) => {
      if (!from || !to) throw new Error("no stores");
      const [here, there] = [from, to];
      await fc.assert(
        fc.asyncProperty(fc.array(link, { minLength: 1, maxLength: 5 }), async (links) => {
          runs += 1;
          const [accountId, other] = [await open(here), await open(there)];
          const named = links.map((one, n) => ({ ...one, slug: `r${runs}x${n}` }));
          const made = await reported(
            here,
            accountId,
            plainCsv,
            named.map((one) => JSON.stringify(one)).join("\n"),
          );
          fc.pre(made.links.created > 0);
          const parts = await Array.fromAsync(exported(here, accountId));
          const report = await reported(there, other, format, parts.join(""));
          expect(report.errors).toEqual([]);
          expect(report.missing).toEqual([]);
          expect(await linksOf(there, other)).toEqual(await linksOf(here, accountId));
          expect(report.links.created).toBe(made.links.created);
        }),
        { numRuns: effort(40, 200) },
      );
    },
    240_000,
  );
});

describe("a table of links", () => {
  it("makes nothing public whose password it doesn't have, nor what was blocked or deleted", async () => {
    if (!to) throw new Error("no stores");
    runs += 1;
    const accountId = await open(to);
    const rows = ["has_password,status", "true,live", ",blocked", ",deleted", "false,expired"];
    const table = rows.map((row, n) => `${n === 0 ? "url,slug" : `https://example.com/,p${n}`},${row}`);
    const { links, errors } = await reported(to, accountId, plainCsv, table.join("\n"));
    expect(links).toMatchObject({ created: 1, failed: 3 });
    expect(errors.map(({ place }) => place)).toEqual(["line 2", "line 3", "line 4"]);
  });

  it("for spreadsheets says so in its first cell, and has no cell that begins a formula", async () => {
    expect(COUNTED_HEAD).toMatch(/^\ufeffshort_url \(for spreadsheets: [^,]*\),url,/);
    const of = {
      host: "h",
      slug: "s",
      longUrl: "https://example.com/",
      status: "live",
      disabled: false,
    } as const;
    const title = '=HYPERLINK("https://evil.example")';
    const row = countedRow(
      { ...of, createdAt: "2024-01-01", shortUrl: "x", madeBy: "=1+1", clicks: 1, title },
      "h",
    );
    expect(row).toContain(`,"'=HYPERLINK(""https://evil.example"")",`);
  });
});
