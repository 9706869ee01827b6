// However an export of our own is edited, its import brings nothing into the log that a request or a click could not.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventOf, LinkEvent, StoredEvent } from "../../src/events/catalogue.ts";
import { type LinkRule, type OptionChanges, optionsOf } from "../../src/events/link-options.ts";
import { CLICK_KINDS, DEVICE_TYPES, NO_RULE } from "../../src/events/vocabulary.ts";
import type { ImportReport } from "../../src/transfer/import/run-import.ts";
import { openImport, ownExport } from "../support/import/own-export.ts";
import { effort } from "../support/runtime/effort.ts";

const LONG = "x".repeat(9_000);
const hostile = fc.constantFrom<unknown>(
  ...["198.51.100.77", "2001:db8:5:6:7:8:9:a", "::ffff:198.51.100.77", "ann@example.com", "", " "],
  ...["javascript:alert(1)", "data:text/html,x", "https://user:secret@example.com/", "https://bad.example/"],
  ...["http://localhost:3000/loop", `https://example.com/${LONG}`, "https://example.com/\u202e?q#f", LONG],
  ...["\u0000\u001b[2J", "\u202eevil\u2066", "\ud800", "a\r\nSet-Cookie: b", "<script>"],
  ...[
    "2021-02-31T10:00:00.000Z",
    "2999-01-01T00:00:00Z",
    "1969-12-31T23:59:59Z",
    "2021-03-01T10:00:00.1234Z",
  ],
  ...["2020-01-01T00:00:00Z", "2021-03-01T11:00:00+01:00", "LinkDeleted", "LinkRetargeted", "AccountClosed"],
  ...["link", "click", "preview", "qr_scan", "bot", "api", "HEAD", "../off", "OFF", "gone", "off", "moved"],
  ...[null, true, -1, 0, 1, 2, 1.5, 1e21, [], {}, { type: "LinkDeleted", at: "2021-03-01T10:00:30Z" }],
  ...[
    { name: "\u0007", version: LONG },
    { source: "\u0007", medium: LONG, toString: "x" },
  ],
);
const name = fc.constantFrom(
  ...["accountId", "keyId", "rules", "referrer", "userAgent", "longUrl", "long_url", "changes", "ip"],
  ...["options", "password_hash", "passwordId", "rules", "tags", "title", "changes", "maxClicks"],
  ...["slug", "domain", "type", "utm", "visitor", "id", "at", "constructor", "utm_source"],
);
const n = fc.nat(1_000);
const edit = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ how: fc.constant("replace" as const), line: n, part: n, value: hostile }),
  },
  fc.record({ how: fc.constant("remove" as const), line: n, part: n }),
  fc.record({ how: fc.constant("repeat" as const), line: n, part: n }),
  fc.record({ how: fc.constant("add" as const), line: n, name, value: hostile }),
  fc.record({ how: fc.constant("addTwice" as const), line: n, name, value: hostile }),
  fc.record({ how: fc.constant("double" as const), line: n }),
  fc.record({ how: fc.constant("swap" as const), line: n, part: n }),
  fc.record({ how: fc.constant("cut" as const), line: n, part: n }),
);
type Edit = typeof edit extends fc.Arbitrary<infer E> ? E : never;

type Parent = Record<string, unknown> | unknown[];

/** Every member of the line, and of what is in it. */
function members(parent: unknown): [Parent, string][] {
  if (typeof parent !== "object" || parent === null) return [];
  return Object.entries(parent).flatMap(([key, value]) => [
    [parent as Parent, key] as [Parent, string],
    ...members(value),
  ]);
}

/** The first line stays first, as it says what the file is; an edit of a line that was cut changes nothing. */
function edited(lines: readonly string[], e: Edit): string[] {
  const index = 1 + (e.line % (lines.length - 1));
  const line = lines[index] as string;
  switch (e.how) {
    case "double":
      return [...lines, line];
    case "swap": {
      const other = 1 + (e.part % (lines.length - 1));
      return lines.with(index, lines[other] as string).with(other, line);
    }
    case "cut":
      return lines.with(index, line.slice(0, 1 + (e.part % line.length)));
    case "addTwice":
      return lines.with(index, line.replace(/\}$/, `,${JSON.stringify(e.name)}:${JSON.stringify(e.value)}}`));
    default:
      return lines.with(index, inside(line, e));
  }
}

function inside(line: string, e: Extract<Edit, { how: "replace" | "remove" | "repeat" | "add" }>): string {
  if (!/^\{.*\}$/.test(line)) return line;
  const value = JSON.parse(line);
  const isObject = typeof value.click === "object" && value.click !== null;
  if (e.how === "add") (isObject ? value.click : value)[e.name] = e.value;
  else {
    const all = members(value);
    const [parent, key] = all[e.part % all.length] as [Parent, string];
    const at = Number(key);
    if (Array.isArray(parent)) {
      if (e.how === "replace") parent[at] = e.value;
      else parent.splice(at, e.how === "remove" ? 1 : 0, ...(e.how === "repeat" ? [parent[at]] : []));
    } else if (e.how === "replace") parent[key] = e.value;
    else if (e.how === "remove") delete parent[key];
  }
  return JSON.stringify(value);
}

/** What is wrong with the log, by rules that are written here anew. */
function problems(events: readonly StoredEvent[], accountId: string): string[] {
  const wrong: string[] = [];
  const where = new Map<string, Led[]>();
  const latest = new Map<string, LinkEvent>();
  for (const event of events) {
    const must = (holds: boolean, rule: string) => {
      if (!holds) wrong.push(`${event.stream}@${event.revision}: ${rule}: ${JSON.stringify(event.data)}`);
    };
    must(texts(event.data).every(isPrintable), "printable, well-formed, bounded");
    must("accountId" in event.data && event.data.accountId === accountId, "of this account");
    must(new Date(event.data.at).toISOString() === event.data.at, "a time of the calendar");
    must(event.data.at >= "1970" && event.data.at <= new Date().toISOString(), "in the past");
    if (event.type === "LinkClicked") clickRules(event.data, where.get(event.data.link) ?? [], must);
    else linkRules(event as unknown as LinkEvent & { stream: string }, where, latest, must);
  }
  return wrong;
}

type Must = (holds: boolean, rule: string) => void;

/** Where a link led at a revision: by itself, and by its rules. */
type Led = { to: string; rules: readonly LinkRule[] };

/** Those that a creation sets, or a change changes. */
function optionsIn(event: StoredEvent | LinkEvent): OptionChanges {
  if (event.type === "LinkCreated") return optionsOf(event.data);
  return event.type === "LinkOptionsChanged" ? event.data.changes : {};
}

function optionRules(options: OptionChanges, must: Must): void {
  const { title, tags, externalId, expiredUrl, rules, maxClicks, redirectCode } = options;
  must((title ?? "").length <= 200 && (externalId ?? "").length <= 100, "short texts");
  must((tags ?? []).length <= 10 && (tags ?? []).every((tag) => tag.length <= 50), "few tags");
  must(
    [...(expiredUrl ? [expiredUrl] : []), ...(rules ?? []).map(({ url }) => url)].every(isDestination),
    "destinations",
  );
  must(
    (rules ?? []).length <= 20 && (rules ?? []).every(({ when }) => Object.keys(when).length > 0),
    "rules",
  );
  must(maxClicks === undefined || maxClicks === null || maxClicks > 0, "a limit");
  must([undefined, null, 301, 302, 307, 308].includes(redirectCode), "a code");
  for (const at of [options.activeFrom, options.expiresAt])
    must(!at || new Date(at).toISOString() === at, "a time of the calendar");
}

function linkRules(
  event: LinkEvent & { stream: string },
  where: Map<string, Led[]>,
  latest: Map<string, LinkEvent>,
  must: Must,
): void {
  const { host, slug, at } = event.data;
  const key = `${host}/${slug}`;
  const before = latest.get(key);
  const led = where.get(key) ?? [];
  must(event.stream === `link-${key}`, "in its stream");
  must(host === "localhost" && /^[a-z0-9_-]{1,100}$/.test(slug) && slug !== "api", "a slug");
  must((event.type === "LinkCreated") === (before === undefined), "created once, and first");
  must(!before || before.data.at <= at, "in the order of time");
  must(before?.type !== "LinkDeleted" || event.type === "LinkRestored", "nothing after a deletion");
  if (event.type === "LinkCreated") {
    must(isDestination(event.data.longUrl), "a destination");
    must(event.data.shortUrl === `http://localhost:3000/${slug}`, "its short URL");
  }
  if (event.type === "LinkRetargeted") {
    must(isDestination(event.data.to), "a destination");
    must(event.data.from === led.at(-1)?.to && event.data.to !== event.data.from, "from where it led");
  }
  const changed = optionsIn(event);
  optionRules(changed, must);
  const last = led.at(-1) ?? { to: "", rules: [] };
  const to =
    event.type === "LinkCreated"
      ? event.data.longUrl
      : event.type === "LinkRetargeted"
        ? event.data.to
        : last.to;
  const rules = changed.rules === undefined ? last.rules : (changed.rules ?? []);
  where.set(key, [...led, { to, rules }]);
  latest.set(key, event);
}

function clickRules(click: EventOf<"LinkClicked">["data"], led: readonly Led[], must: Must): void {
  must(/^$|^(\d{1,3}\.){3}0$|^([0-9a-f]{1,4}:){1,3}:$|^::$/.test(click.ip ?? ""), "no whole address");
  const { to = "", rules = [] } = led[click.linkRevision] ?? {};
  must(click.longUrl === ledBy(click.rule, rules, to), "where the link led at that revision");
  must(
    CLICK_KINDS.includes(click.kind) && DEVICE_TYPES.includes(click.device ?? "unknown"),
    "a kind, a device",
  );
  must(
    click.kind === "preview" || (click.method !== "HEAD" && click.device !== "bot"),
    "no click of a program",
  );
  must(/^$|^[0-9a-f]{16}$/.test(click.visitor ?? ""), "a visitor code");
  must(/^$|^[0-9a-f]{16}$/.test(click.accountVisitor ?? ""), "a visitor code of the account");
  must(/^$|^[a-z]{1,8}(-[a-z0-9]{1,8})*$/.test(click.language ?? ""), "a language");
  must(/^(unknown|[A-Z]{2})$/.test(click.country ?? "unknown"), "a country");
  const referrer = click.referrer ? URL.parse(click.referrer) : undefined;
  must(referrer !== null && !/[?#@]/.test(click.referrer ?? ""), "a referrer without what is private");
  must(
    texts([click.userAgent ?? "", click.referrer ?? ""]).every(({ length }) => length <= 512),
    "cut at 512",
  );
  const short = [click.region, click.city, click.prefetch, ...Object.values(click.utm ?? {})];
  must(
    short.every((text) => (text ?? "").length <= 128),
    "cut at 128",
  );
}

/** `to`: the link's own destination. */
function ledBy(rule: string | undefined, rules: readonly LinkRule[], to: string): string | undefined {
  return rule === undefined || rule === NO_RULE ? to : rules.find(({ id }) => id === rule)?.url;
}

function texts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(texts) : [];
}

/** Comments have lines. */
function isPrintable(given: string): boolean {
  const text = given.replaceAll("\n", "");
  return text.isWellFormed() && !/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u.test(text) && text.length <= 8_192;
}

function isDestination(text: string): boolean {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return false;
  return /^[!-~]+$/.test(text) && url.host !== "localhost:3000" && url.hostname !== "bad.example";
}

/** Of every line but the first; one that can't be read counts as failed. */
function taken({ links, clicks }: ImportReport): number {
  const ofClicks = clicks.created + clicks.already + clicks.skipped;
  return links.created + links.already + links.failed + ofClicks + clicks.failed;
}

describe("an import of an edited export", () => {
  it("writes what a request or a click could have written, and reports every line that it refuses", async () => {
    const whole = await ownExport();
    const seen = { created: 0, failed: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 6 }), async (edits) => {
        const lines = edits.reduce<string[]>(edited, whole);
        const own = await openImport();
        try {
          const report = await own.importLines(lines);
          expect(problems(await own.events(), own.accountId)).toEqual([]);
          expect((await own.verify()).problems).toEqual([]);
          expect(taken(report)).toBe(lines.length - 1);
          expect(report.errors).toHaveLength(report.links.failed + report.clicks.failed);
          expect(texts(report.errors).every(isPrintable)).toBe(true);
          seen.created += report.links.created + report.clicks.created;
          seen.failed += report.errors.length;
        } finally {
          await own.close();
        }
      }),
      { numRuns: effort(15, 60) },
    );
    expect(seen.created).toBeGreaterThan(0);
    expect(seen.failed).toBeGreaterThan(0);
  });
});
