// Links from a list that is pasted into the portal: a preview of each row, then the same as a report, over real HTTP.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { unzipSync } from "fflate";
import jsqr from "jsqr";
import { PNG } from "pngjs";
import { describe, expect, it } from "vitest";
import { decoded } from "../../support/portal/browser-like.ts";
import { type Person, peopledService, portalPeople } from "../../support/portal/portal-people.ts";
import { effort } from "../../support/runtime/effort.ts";
import { until } from "../../support/runtime/until.ts";
import { startTestService } from "../../support/service/start-service.ts";

const PATH = "/portal/links/many";

const { service, people } = peopledService({ RATE_LIMIT_DEVELOPER: "100000" });

/** The rows of the page's table: place, what becomes of it, short link, and destination or reason. */
function rowsOf(text: string): string[][] {
  const body = /<tbody>([\s\S]*?)<\/tbody>/.exec(text)?.[1] ?? "";
  return [...body.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row = ""]) =>
    [...row.matchAll(/<td[^>]*>([\s\S]*?)<\/td>/g)].map(([, cell = ""]) =>
      decoded(cell.replace(/<[^>]*>/g, ""))
        .replaceAll("&amp;", "&")
        .trim(),
    ),
  );
}

async function send(one: Person, act: "preview" | "create", list: string, more: [string, string][] = []) {
  const { status, text } = await one.post(PATH, [["act", act], ["list", list], ...more]);
  const lead = /<p class="muted">([^<]*rows?: [^<]*)<\/p>/.exec(text)?.[1] ?? "";
  return { status, text: decoded(text), lead: decoded(lead), rows: rowsOf(text) };
}

async function listed(one: Person): Promise<number> {
  const { text } = await one.get("/portal/links");
  return Number(/<p class="muted">([\d,]+) links?/.exec(text)?.[1]?.replace(",", "") ?? 0);
}

describe("a list that is pasted", { timeout: 120_000 }, () => {
  it("says what will become of each row, makes nothing before it is told to, and then says the same", async () => {
    const one = await people.developer();
    await service.domain(one.accountId, "many.example.org");
    const list = [
      "url,slug,domain,title,tags,colour",
      'https://example.com/1,first,many.example.org,One,"spring, mail",red',
      "https://example.com/2,,,Two,,",
      "javascript:alert(1),,,,,",
      "https://example.com/4,own,,,,",
      "https://example.com/5,,other.example.org,,,",
      "https://example.com/6,a b,many.example.org,,,",
      "https://example.com/7,first,many.example.org,,,",
    ].join("\r\n");
    const preview = await send(one, "preview", list);
    expect(preview.lead).toBe("7 rows: 2 will be created, 5 can’t be taken.");
    expect(preview.rows.map(([place, becomes]) => [place, becomes])).toEqual([
      ...[4, 5, 6, 7, 8].map((line) => [`line ${line}`, "Not taken"]),
      ["line 2", "New"],
      ["line 3", "New"],
    ]);
    expect(preview.rows[5]?.slice(2)).toEqual(["many.example.org/first", "Oneexample.com/1"]);
    expect(preview.rows[1]?.at(-1)).toMatch(/needs one of your domains.*BASE_HOST_SLUGS=true/);
    expect(preview.rows[2]?.at(-1)).toContain("other.example.org is no active domain of the account");
    expect(preview.rows[3]?.at(-1)).toContain("Invalid custom slug");
    expect(preview.rows[4]?.at(-1)).toContain("the file has first twice");
    const chosen = [...preview.text.matchAll(/<option value="(\w*)" selected>/g)].map(([, part]) => part);
    expect(chosen).toEqual(["url", "slug", "domain", "title", "tags", ""]);
    expect(preview.text).toContain("Create 2 links");
    expect(await listed(one)).toBe(0);

    const created = await send(one, "create", list);
    expect(created.lead).toBe("7 rows: 2 created, 5 can’t be taken.");
    expect(created.rows.map(([place, , ...rest]) => [place, ...rest])).toEqual(
      preview.rows.map(([place, , ...rest]) => [place, ...rest]),
    );
    expect(await listed(one)).toBe(2);
    const visit = await service.ask("/first", { host: "many.example.org" });
    expect(visit.headers.location).toBe("https://example.com/1");
    expect((await one.get("/portal/links?tag=spring")).text).toContain(">One</a>");
    const again = await send(one, "create", list);
    expect(again.lead).toBe("7 rows: 0 created, 2 are there already, 5 can’t be taken.");
    expect(await listed(one)).toBe(2);
  });

  it("accounts for every row, whatever stands in it, and never fails", async () => {
    const one = await people.developer();
    const cell = fc.constantFrom(
      ...[
        "https://example.com/a",
        "https://example.com/b?x=1",
        "example.com",
        "",
        '"',
        "a,b",
        "ü\u0000",
        "spring",
      ],
      ...["slug", "url", "2020-01-01", "true", "ftp://x", "[1]", "{", "\\N", "x".repeat(300)],
    );
    const row = fc
      .array(fc.oneof(cell, fc.string({ maxLength: 20 })), { maxLength: 5 })
      .map((cells) => cells.join());
    const head = fc.constantFrom(
      "url",
      "url,slug,title",
      "url;tags",
      "title",
      "https://example.com/first",
      "[",
      "{}",
    );
    const text = fc
      .tuple(head, fc.array(row, { maxLength: 8 }))
      .map(([first, rows]) => [first, ...rows].join("\n"));
    await fc.assert(
      fc.asyncProperty(text, async (list) => {
        const { status, lead, rows, text: page } = await send(one, "preview", list);
        expect([list, [200, 400].includes(status)]).toEqual([list, true]);
        if (status === 400) expect(page).toMatch(/id="field-list-error"|role="alert"/);
        else {
          const number = (pattern: RegExp) => Number(pattern.exec(lead)?.[1] ?? 0);
          const counts = [
            /(\d+) will be/,
            /(\d+) (?:is|are) there/,
            /(\d+) (?:is|are) the same/,
            /(\d+) can/,
          ];
          const sum = counts.map(number).reduce((all, one) => all + one, 0);
          expect([list, sum]).toEqual([list, number(/^(\d+) row/)]);
          expect(rows.length).toBeLessThanOrEqual(sum);
        }
      }),
      { numRuns: effort(40, 300) },
    );
    expect(await listed(one)).toBe(0);
  });

  it("is told by the names of its columns and by what is in them, and by what is chosen on the page", async () => {
    const one = await people.developer();
    await service.domain(one.accountId, "short.example.org");
    const list = [
      "Landing page\tName\tShort\tCampaign\tRef",
      "shop.example.com/a?utm_campaign=old&x=1\tShoes\tshort.example.org/shoes\tspring\tR 1",
      "https://shop.example.com/b#top\tBoots\thttps://short.example.org/boots\t\tR 2",
    ].join("\n");
    const preview = await send(one, "preview", list);
    expect(preview.lead).toBe("2 rows: 2 will be created.");
    expect(preview.rows.map((row) => row.slice(2))).toEqual([
      ["short.example.org/shoes", "Shoesshop.example.com/a?x=1&utm_campaign=spring"],
      ["short.example.org/boots", "Bootsshop.example.com/b#top"],
    ]);
    const parts = (...chosen: string[]) => chosen.map((part): [string, string] => ["column", part]);
    const mapped = await send(one, "create", list, parts("url", "", "slug", "utm_source", "tags"));
    expect(mapped.rows.map((row) => row.at(-1))).toEqual([
      "shop.example.com/a?utm_campaign=old&x=1&utm_source=spring",
      "shop.example.com/b#top",
    ]);
    await until("the tags", async () => (await one.get("/portal/links?tag=R+2")).text.includes("/boots"));
    for (const [chosen, why] of [
      [["url", "title", "title", "", ""], "Two columns are Title"],
      [["", "", "", "", ""], "No column has addresses"],
      [["url", "nonsense", "", "", ""], "column"],
    ] as const) {
      const { status, text } = await send(one, "create", list, parts(...chosen));
      expect([status, text.includes(why), text.includes("Landing page")]).toEqual([400, true, true]);
    }
  });

  it("has a link for each row that differs, whatever its destination, unless each destination is to have one", async () => {
    const one = await people.developer();
    const rows = ["a,", "a,mail", "a,social", "a,mail", "b,mail"].map(
      (row) => `https://example.com/${row.replace(",", ",One,")}`,
    );
    const list = ["url,title,utm_source", ...rows].join("\n");
    const words = (of: { rows: string[][] }) => of.rows.map(([place, outcome]) => `${place} ${outcome}`);
    const each = (outcome: string) => [
      ...[2, 3, 4].map((line) => `line ${line} ${outcome}`),
      "line 5 Same as line 3",
      `line 6 ${outcome}`,
    ];
    expect(words(await send(one, "preview", list))).toEqual(each("New"));
    expect(words(await send(one, "create", list))).toEqual(each("Created"));
    expect(words(await send(one, "create", list))).toEqual(each("There already"));
    await until("four links", async () => (await listed(one)) === 4);
    const titled = "url,title\nhttps://example.com/c,One\nhttps://example.com/c,Two";
    const ticked: [string, string][] = [["isOneEachDestination", "1"]];
    expect(words(await send(one, "preview", titled))).toEqual(["line 2 New", "line 3 New"]);
    expect(words(await send(one, "preview", titled, ticked))).toEqual([
      "line 2 New",
      "line 3 Same as line 2",
    ]);
  });

  it("becomes what its preview said, also where a cell has lines, whose ends a browser changes", async () => {
    const one = await people.developer();
    const list = 'url,comments\nhttps://example.com/lines,"two\nlines"';
    const { text } = await one.post(PATH, { act: "preview", list });
    const [, sent = ""] = /name="list" value="([^"]*)"/.exec(text) ?? [];
    const created = await send(one, "create", decoded(sent).replaceAll("\n", "\r\n"));
    expect(created.lead).toBe("1 row: 1 created.");
    expect(created.rows[0]?.[2]).toBe(rowsOf(text)[0]?.[2]);
  });

  it.each([
    ["a workbook", "campaign.xlsx"],
    ["an open document", "campaign.ods"],
  ])("is a file, too: %s", async (_, name) => {
    const one = await people.developer();
    const form = new FormData();
    form.set("act", "preview");
    form.set("list", "");
    form.set(
      "file",
      new Blob([readFileSync(new URL(`../../fixtures/sheets/${name}`, import.meta.url))]),
      name,
    );
    const answer = await fetch(`${service.url}${PATH}`, {
      method: "POST",
      body: form,
      headers: { cookie: one.cookie() },
    });
    const rows = rowsOf(await answer.text());
    expect(rows.map((row) => row.at(-1))).toEqual([
      "A slug of your own needs one of your domains: name it as domain, or ask the operator of this service to set BASE_HOST_SLUGS=true",
      "A slug of your own needs one of your domains: name it as domain, or ask the operator of this service to set BASE_HOST_SLUGS=true",
      "Ünïcode 😀shop.example.com/b?utm_campaign=spring",
    ]);
  });

  it("gives the links that were made to copy, as CSV and as QR codes in a ZIP, and nobody else's", async () => {
    const one = await people.developer();
    await service.domain(one.accountId, "qr.example.org");
    const list = "url,slug,domain\nhttps://example.com/a,own,qr.example.org\nhttps://example.com/b,,";
    const { text, rows } = await send(one, "create", list);
    const keys = [...text.matchAll(/name="link" value="([^"]+)"/g)].map(([, key = ""]) => key);
    expect(keys).toEqual(rows.map((row) => row[2]));
    const [, copied = ""] = /<span id="all-links" hidden>([^<]*)</.exec(text) ?? [];
    expect(copied.split("\n")).toEqual(["https://qr.example.org/own", `http://${keys[1]}`]);
    const take = async (person: Person, change: string) => {
      const body = new URLSearchParams([
        ["change", change],
        ...keys.map((key): [string, string] => ["link", key]),
      ]);
      const headers = { cookie: person.cookie() };
      const answer = await fetch(`${service.url}/portal/links/several`, { method: "POST", body, headers });
      return Buffer.from(await answer.arrayBuffer());
    };
    await until("the CSV", async () => (await take(one, "export")).toString().split("\n").length === 4);
    const files = unzipSync(await take(one, "qr"));
    expect(Object.keys(files).sort()).toEqual(keys.map((key) => `${key}.png`).sort());
    const { data, width, height } = PNG.sync.read(Buffer.from(files["qr.example.org/own.png"] ?? []));
    expect([width, jsqr.default(new Uint8ClampedArray(data), width, height)?.data]).toEqual([
      1_024,
      "https://qr.example.org/own?qr=1",
    ]);
    expect(unzipSync(await take(await people.developer(), "qr"))).toEqual({});
  });

  it("is refused clearly and at once where it is too wide or too long, whatever is in it", async () => {
    const one = await people.developer();
    const cell = fc.constantFrom("a", "1", "", "https://example.com/", '"');
    const wide = fc
      .tuple(fc.integer({ min: 1_000, max: 10_000 }), fc.constantFrom(",", ";", "\t"), cell)
      .map(([columns, separator, text]) => {
        const names = Array.from({ length: columns }, (_, n) => `c${n}`);
        return [
          ["url", ...names],
          ["https://example.com/", ...names.fill(text)],
        ]
          .map((row) => row.join(separator))
          .join("\n");
      });
    const long = fc
      .integer({ min: 300_001, max: 8 * 1_024 * 500 })
      .map((length) =>
        Array.from({ length: 500 }, (_, n) => `https://example.com/${n}`.padEnd(length / 500, "x")).join(
          "\n",
        ),
      );
    await fc.assert(
      fc.asyncProperty(fc.oneof(wide, long), async (list) => {
        const started = performance.now();
        const { status, text } = await send(one, "preview", list);
        expect([400, 413]).toContain(status);
        expect(text).toMatch(
          /columns, and may have 100|characters, and may have 300,000|fields, the header|too large|No row can be read|can’t be taken|quote/,
        );
        expect(performance.now() - started).toBeLessThan(2_000);
      }),
      { numRuns: effort(15, 60) },
    );
  });

  it("is bounded in rows and characters, and keeps what was pasted", async () => {
    const one = await people.developer();
    const lines = (number: number) =>
      Array.from({ length: number }, (_, n) => `https://example.com/${n}`).join("\n");
    for (const [list, why] of [
      [lines(501), "The list has more than 500 rows"],
      ["  \n", "Paste at least one address, or choose a file."],
      [`https://example.com/${"a".repeat(300_000)}`, "and may have 300,000"],
      ["name,place\na,b", "No column has addresses"],
      ["url,url\na,b", "two columns of one name"],
    ] as const) {
      const { status, text } = await send(one, "create", list);
      expect([why, status, text.includes(why)]).toEqual([why, 400, true]);
      expect(text).toContain(list.trim().slice(0, 10));
    }
    const { lead } = await send(one, "create", lines(500));
    expect(lead).toBe("500 rows: 500 created.");
    await until("500 links", async () => (await listed(one)) === 500);
  });

  it("comes with the Developer plan, and counts a change of the hour for each 100 rows", async () => {
    const free = await people.person();
    expect((await free.get(PATH)).text).toContain('href="/portal/plan"');
    expect((await send(free, "create", "https://example.com/")).status).toBe(402);
    const own = await startTestService({ TRUST_PROXY: "127.0.0.1/32", RATE_LIMIT_DEVELOPER: "3" });
    try {
      const one = await portalPeople(own).developer();
      const list = Array.from({ length: 201 }, (_, n) => `https://example.com/${n}`).join("\n");
      expect((await send(one, "create", list)).lead).toBe("201 rows: 201 created.");
      const refused = await send(one, "create", "https://example.com/more");
      expect([refused.status, refused.text.includes("You have made 3 changes within an hour")]).toEqual([
        429,
        true,
      ]);
    } finally {
      await own.stop();
    }
  });
});
