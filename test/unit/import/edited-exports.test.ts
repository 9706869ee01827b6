// An import takes no line of an export of our own at its word: what a request or a click could not bring doesn't come in.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linkPasswordSecret } from "../../../src/commands/links/link-password.ts";
import type { EventOf, LinkEvent } from "../../../src/events/catalogue.ts";
import { CARRIED, HASH, type OwnImport, openImport, ownExport } from "../../support/import/own-export.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests edit parsed lines in ways that no type allows.
type Line = any;

let own: OwnImport;
let lines: string[];
beforeEach(async () => {
  [own, lines] = await Promise.all([openImport(), ownExport()]);
});
afterEach(() => own.close());

/** Edits the link of the slug, or its first click; says what the import makes of the file. */
async function edited(type: "link" | "click", slug: string, edit: (line: Line) => void) {
  const index = lines.findIndex((text) => {
    const line = JSON.parse(text);
    return line.type === type && line.slug === slug;
  });
  const line = JSON.parse(lines[index] as string);
  edit(line);
  return await own.importLines(lines.with(index, JSON.stringify(line)));
}

async function clicks() {
  const events = await own.events();
  return events.flatMap((event) => (event.type === "LinkClicked" ? [event.data] : []));
}
const passwords = () => own.deps.secrets.list(linkPasswordSecret(""), new Date());
async function linkEvents(slug: string) {
  const events = await own.events();
  return events.filter(({ stream }) => stream === `link-localhost/${slug}`) as unknown as LinkEvent[];
}

describe("an export that nobody edited", () => {
  it("comes in whole", async () => {
    expect(await own.importLines(lines)).toMatchObject({
      links: { read: 3, created: 3, failed: 0 },
      clicks: { read: 4, created: 4, failed: 0, skipped: 0 },
      errors: [],
    });
    expect((await linkEvents("gone")).map(({ type }) => type)).toEqual([
      ...["LinkCreated", "LinkDeleted", "LinkRestored", "LinkDeleted"],
    ]);
    expect(await clicks()).toMatchObject([
      { longUrl: "https://example.com/", kind: "click", utm: { campaign: "spring" } },
      { longUrl: "https://example.com/to?utm_source=link", kind: "qr_scan", linkRevision: 1 },
      { kind: "preview", method: "HEAD", prefetch: "prefetch" },
      {
        ...{ ip: "2001:db8:5::", kind: "click", method: "POST" },
        ...{ rule: CARRIED.rules[0]?.id, longUrl: CARRIED.rules[0]?.url, utm: { source: "rule" } },
      },
    ]);
    const [created, changed] = (await linkEvents("off")) as [
      EventOf<"LinkCreated">,
      EventOf<"LinkOptionsChanged">,
    ];
    expect(created.data).toMatchObject(CARRIED);
    expect(changed.data.changes).toEqual({ title: null, passwordId: expect.any(String) });
    expect(await passwords()).toEqual([
      { key: linkPasswordSecret(changed.data.changes.passwordId ?? ""), value: HASH },
    ]);
    expect(await own.verify()).toMatchObject({ problems: [] });
  });
});

describe("a link of an edited export", () => {
  it.each([
    ["a script", "javascript:alert(1)"],
    ["a URL with a password", "https://user:secret@example.com/"],
    ["an unsafe host", "https://bad.example/"],
    ["a URL without end", `https://example.com/${"x".repeat(9_000)}`],
  ])("is refused when it leads to %s, or ever did", async (_, url) => {
    const first = await edited("link", "moved", (line) => {
      line.changes[0].from = url;
    });
    const later = await edited("link", "moved", (line) => {
      line.changes[0].to = url;
    });
    for (const report of [first, later]) {
      expect(report.links).toMatchObject({ failed: 1 });
      expect(report.errors).toMatchObject([{ place: "line 2" }]);
      expect(report.clicks).toMatchObject({ skipped: 3 });
    }
    expect(await linkEvents("moved")).toEqual([]);
  });

  it("is refused when it was changed after it was deleted, with its clicks", async () => {
    const report = await edited("link", "moved", (line) => {
      line.changes.unshift({ type: "LinkDeleted", at: line.changes[0].at });
    });
    expect(report.errors).toEqual([expect.objectContaining({ error: expect.stringContaining("deleted") })]);
    expect(report).toMatchObject({ links: { created: 2, failed: 1 }, clicks: { created: 1, skipped: 3 } });
    expect(await linkEvents("moved")).toEqual([]);
  });

  it("was retargeted from where it led, whatever the file says, and not twice to the same", async () => {
    await edited("link", "moved", (line) => {
      const { to, at } = line.changes[0];
      line.changes.push(
        { ...line.changes[0] },
        { type: "LinkRetargeted", at, from: "https://x.example/", to: "https://y.example/" },
      );
      expect(to).toBe(line.long_url);
    });
    const [, first, second, ...more] = (await linkEvents("moved")) as EventOf<"LinkRetargeted">[];
    expect([first?.data.from, first?.data.to]).toEqual(["https://example.com/", second?.data.from]);
    expect([second?.data.to, more]).toEqual(["https://y.example/", []]);
  });

  it("has the times of its history in order: an earlier one becomes that of the change before", async () => {
    await edited("link", "gone", (line) => {
      line.changes[1].at = "2020-01-01T00:00:00Z";
    });
    const times = (await linkEvents("gone")).map(({ data }) => data.at.slice(14, 16));
    expect(times).toEqual(["00", "01", "01", "03"]);
  });

  it.each(["2999-01-01T00:00:00Z", "2021-02-31T10:00:00Z", "1969-12-31T23:59:59Z", "2021-03-01T24:30:00Z"])(
    "is refused when it was made or changed at %s",
    async (time) => {
      const report = await edited("link", "moved", (line) => {
        line.created_at = time;
      });
      expect(report.links).toMatchObject({ created: 2, failed: 1 });
      const changed = await edited("link", "moved", (line) => {
        line.changes[0].at = time;
      });
      expect(changed.links).toMatchObject({ created: 0, already: 2, failed: 1 });
    },
  );

  it("comes in once: of two lines the first counts, for its clicks too", async () => {
    const second = JSON.parse(lines[1] as string);
    second.changes = [];
    second.long_url = "https://evil.example/";
    const report = await own.importLines(lines.toSpliced(2, 0, JSON.stringify(second)));
    expect(report.links).toMatchObject({ created: 3, failed: 1 });
    expect((await clicks()).map(({ longUrl }) => new URL(longUrl).hostname)).not.toContain("evil.example");
  });
});

describe("what a link of an edited export carries", () => {
  it.each<[string, unknown, string]>([
    ["expiredUrl", "javascript:alert(1)", "expired_url"],
    ["expiredUrl", "https://bad.example/", "expired_url"],
    ["rules", [{ when: { os: ["iOS"] }, url: "http://localhost:3000/loop" }], "rules.0.url"],
    ["rules", [{ when: { city: ["Berlin"] }, url: "https://example.com/" }], "city"],
    ["rules", [{ when: {}, url: "https://example.com/" }], "rules.0.when"],
    ["rules", Array.from({ length: 21 }, () => CARRIED.rules[0]), "rules"],
    ["maxClicks", 0, "max_clicks"],
    ["redirectCode", 200, "redirect_code"],
    ["expiresAt", "2021-02-01T00:00:00.000Z", "active_from"],
    ["activeFrom", "never", "active_from"],
    ["externalId", "x".repeat(101), "external_id"],
    ["title", { toString: "x" }, "title"],
    ["framed", true, "framed"],
  ])("is refused with the %s %j", async (option, value, named) => {
    const report = await edited("link", "off", (line) => {
      line.options[option] = value;
    });
    expect(report.links).toMatchObject({ created: 2, failed: 1 });
    expect(report.errors).toMatchObject([{ error: expect.stringContaining(named) }]);
    expect(await passwords()).toEqual([]);
  });

  it.each([
    ["is not there", undefined],
    ["is bcrypt", "$2a$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW"],
    ["would cost the server 4 GiB", HASH.replace("m=19456", "m=4194304")],
    ["has less memory than argon2 needs", HASH.replace("m=19456", "m=7")],
    ["has no iteration", HASH.replace("t=2", "t=0")],
    ["has a salt that is no base64", HASH.replace("e5kx462mJpWIBADOTL6QeQ", "a".repeat(13))],
    ["has a digest that is no base64", HASH.replace("NBgf", "N*gf")],
  ])("is refused when the hash of its password %s", async (_, hash) => {
    const report = await edited("link", "off", (line) => {
      line.password_hash = hash;
    });
    expect(report.links).toMatchObject({ created: 2, failed: 1 });
    expect(report.errors).toMatchObject([{ error: expect.stringContaining("password") }]);
    expect(await passwords()).toEqual([]);
  });

  it("has a secret of its own, whatever the file calls it", async () => {
    const theirs = linkPasswordSecret("c0a6f6d2-4b1f-4f0e-8a53-7d3c9e1b2a40");
    await own.deps.secrets.put(theirs, { value: "another link's" });
    await edited("link", "off", (line) => {
      line.changes[0].changes.passwordId = "c0a6f6d2-4b1f-4f0e-8a53-7d3c9e1b2a40";
    });
    expect(await own.deps.secrets.get(theirs, new Date())).toBe("another link's");
    expect(await passwords()).toHaveLength(2 + 1);
  });
});

describe("a click of an edited export", () => {
  it("has no whole address, whatever the file says of it", async () => {
    await edited("click", "moved", ({ click }) => {
      click.ip = "198.51.100.77";
    });
    await edited("click", "off", ({ click }) => {
      click.ip = "2001:db8:5:6:7:8:9:a";
    });
    expect(new Set((await clicks()).map(({ ip }) => ip))).toEqual(
      new Set(["192.0.2.0", "198.51.100.0", "2001:db8:5::"]),
    );
  });

  it("is cleaned and cut as a hit is", async () => {
    const hostile = `a\u0000b\u001b[2J\u202e\ud800${"x".repeat(3_000)}`;
    const report = await edited("click", "moved", ({ click }) => {
      for (const member of ["userAgent", "city", "region", "prefetch", "language", "country"])
        click[member] = hostile;
      click.utm.source = hostile;
      click.referrer = `https://user:secret@example.org/${hostile}?private=1#part`;
    });
    expect(report.errors).toEqual([]);
    const [click] = await clicks();
    const text = JSON.stringify(click);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
    expect(text).not.toMatch(/\\u|[\u0000-\u001f\u202a-\u202e]|secret|private=1/);
    expect(click?.userAgent).toHaveLength(512);
    expect(click?.prefetch).toHaveLength(128);
    expect(click?.utm?.source).toHaveLength(128);
    expect(click?.referrer?.length).toBeLessThanOrEqual(512);
    expect(click).not.toHaveProperty("language");
    expect(click).not.toHaveProperty("country");
  });

  it("is read by the present rules, as its user agent alone says what made it", async () => {
    await edited("click", "moved", ({ click }) => {
      Object.assign(click, { userAgent: "Googlebot/2.1", device: "mobile", kind: "click" });
      Object.assign(click, { browser: { name: "\u0007", version: "1" }, rules: 99 });
    });
    expect((await clicks())[0]).toMatchObject({ kind: "preview", device: "bot" });
    expect(JSON.stringify(await clicks())).not.toContain("\\u0007");
    expect((await clicks())[0]?.rules).not.toBe(99);
  });

  it("led where its link led at its revision, and nowhere else", async () => {
    await edited("click", "moved", ({ click }) => {
      Object.assign(click, { longUrl: "javascript:alert(1)", via: "web", accountId: "someone" });
    });
    const [click] = await clicks();
    expect(click).toMatchObject({ longUrl: "https://example.com/", accountId: own.accountId, via: "api" });
  });

  it.each([2, -1, 1.5])("is refused at revision %d, which its link never had", async (revision) => {
    const report = await edited("click", "moved", ({ click }) => {
      click.linkRevision = revision;
    });
    expect(report.clicks).toMatchObject({ created: 3, failed: 1 });
    expect(report.errors[0]?.error).toMatch(/revision/i);
  });

  it.each([
    ["at", "2021-02-31T10:00:00.000Z"],
    ["at", "2999-01-01T00:00:00.000Z"],
    ["visitor", "ann@example.com"],
    ["accountVisitor", "198.51.100.77"],
    ["kind", "AccountClosed"],
    ["method", "PUT"],
  ])("is refused with the %s %s", async (member, value) => {
    const report = await edited("click", "moved", ({ click }) => {
      click[member] = value;
    });
    expect(report.clicks).toMatchObject({ created: 3, failed: 1 });
    expect(report.errors).toHaveLength(1);
  });

  it.each(["0123456789ab", "", 1, {}])("is refused by rule %j, which its link never had", async (rule) => {
    const report = await edited("click", "off", ({ click }) => {
      click.rule = rule;
    });
    expect(report.clicks).toMatchObject({ created: 3, failed: 1 });
    expect(report.errors[0]?.error).toContain("rule");
  });

  it("comes in once when its line is there twice", async () => {
    const line = lines.find((text) => JSON.parse(text).type === "click") as string;
    expect((await own.importLines([...lines, line])).clicks).toMatchObject({ created: 4, already: 1 });
    expect(await clicks()).toHaveLength(4);
  });

  it("comes in for no link but those of the file", async () => {
    const report = await edited("click", "moved", (line) => {
      line.slug = "theirs";
    });
    expect(report.clicks).toMatchObject({ created: 3, skipped: 1 });
  });
});

describe("the report of an import", () => {
  it("quotes nothing that moves the cursor of a terminal", async () => {
    const report = await edited("link", "moved", (line) => {
      line.created_at = "\u001b[2J\u202e";
    });
    expect(report.errors).toMatchObject([{ error: expect.stringMatching(/^[\P{Cc}]*is not a time$/u) }]);
    expect(report.errors[0]?.error).not.toContain("\u202e");
  });
});
