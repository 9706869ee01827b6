// Whatever happens to a link's rules between visits, each click counts for the rule and the destination that it was led by.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { change, create, type ExistingLink, evolve, freeLink } from "../../src/commands/links/link.ts";
import type { LinkEvent } from "../../src/events/catalogue.ts";
import { fingerprintOf, type LinkRule } from "../../src/events/link-options.ts";
import { NO_RULE } from "../../src/events/vocabulary.ts";
import { ChunkBuilder } from "../../src/projections/definitions/click-tables/chunk-builder.ts";
import { decodeChunk } from "../../src/projections/definitions/click-tables/decode-chunk.ts";
import type { LinkDocument } from "../../src/projections/definitions/links.ts";
import { clickReader } from "../../src/redirect/clicks/click-event.ts";
import { nowhere } from "../../src/redirect/clicks/enrich/geo.ts";
import { linkEntry } from "../../src/redirect/lookup/link-entry.ts";
import { firstRule } from "../../src/redirect/rules/first-rule.ts";
import { visitReader } from "../../src/redirect/rules/visit.ts";
import { effort } from "../support/runtime/effort.ts";

const ACCOUNT = "7d3f0a52-1c7e-4b0e-9a1f-2f6c1f0f9a11";
const AT = "2026-03-01T10:00:00.000Z";
const visitOf = visitReader("s".repeat(32));
const clickOf = clickReader({ locate: () => nowhere });

/** A rule as its owner thinks of it: `key` is what it is, whatever it is called and wherever it leads. */
type Wanted = { key: number; isNamed: boolean; condition: string; url: string; name?: string };

const place = fc.nat(9);
const page = fc.nat(3).map((n) => `https://example.com/${n}`);
const step = fc.oneof(
  fc.record({ type: fc.constant("visit" as const), condition: fc.nat(12).map(String) }),
  fc.record({ type: fc.constant("insert" as const), place, url: page }),
  fc.record({ type: fc.constant("remove" as const), place }),
  fc.record({ type: fc.constant("move" as const), place, to: place }),
  fc.record({ type: fc.constant("rename" as const), place, name: fc.constantFrom("A", "B", "C") }),
  fc.record({ type: fc.constant("lead" as const), place, url: page }),
  fc.record({ type: fc.constant("retarget" as const), url: page }),
  // A program that doesn't keep ids: what it leaves as it is stays the same all the same.
  fc.record({ type: fc.constant("forget ids" as const), place }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function edited(rules: readonly Wanted[], step: Step, nextKey: number): Wanted[] {
  const after = rules.map((rule) => ({ ...rule, isNamed: true }));
  if (step.type === "visit" || step.type === "retarget") return after;
  const at = after.length === 0 ? 0 : step.place % after.length;
  const rule = after[at];
  if (step.type === "insert")
    after.splice(at, 0, { key: nextKey, isNamed: false, condition: String(nextKey), url: step.url });
  else if (step.type === "remove") after.splice(at, 1);
  else if (step.type === "forget ids") return after.map((one) => ({ ...one, isNamed: false }));
  else if (rule && step.type === "move") after.splice(step.to, 0, ...after.splice(at, 1));
  else if (rule && step.type === "rename") rule.name = step.name;
  else if (rule && step.type === "lead") rule.url = step.url;
  return after;
}

function startedLink(): ExistingLink {
  const facts = { host: "sho.rt", slug: "abc", accountId: ACCOUNT, shortUrl: "https://sho.rt/abc" };
  const made = {
    ...facts,
    longUrl: "https://example.com/own",
    via: "api",
    custom: false,
    createdAt: AT,
  } as const;
  return create(freeLink, made).reduce(evolve, freeLink) as ExistingLink;
}

describe("the rules of a link that is edited between visits", () => {
  it("keep their ids, and each click counts for the rule and the destination that it was led by", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 60, size: "max" }), (steps) => {
        let link = startedLink();
        let rules: Wanted[] = [];
        const ids = new Map<number, string>();
        const table = new ChunkBuilder(ACCOUNT, AT.slice(0, 10));
        const led = new Map<string, number>();
        const take = (events: LinkEvent[]) => {
          link = events.reduce<ReturnType<typeof evolve>>(evolve, link) as ExistingLink;
        };
        for (const [n, one] of steps.entries()) {
          if (one.type === "visit") {
            const query = `r=${one.condition}`;
            const hit = { ...HIT, query };
            const entry = linkEntry({ ...(link as unknown as LinkDocument), revision: link.changes });
            const target = firstRule(entry.options?.rules ?? [], visitOf("sho.rt/abc", hit)) ?? entry;
            const click = clickOf({ ...hit, link: target.packed }, () => "0".repeat(16)).data;
            table.addClick(click, String(n).padStart(20, "0"));
            const wanted = rules.find(({ condition }) => condition === one.condition);
            expect(click.longUrl).toBe(wanted?.url ?? link.longUrl);
            const by = wanted ? ids.get(wanted.key) : rules.length > 0 ? null : undefined;
            const key = JSON.stringify([by, click.longUrl]);
            if (by !== undefined) led.set(key, (led.get(key) ?? 0) + 1);
            continue;
          }
          if (one.type === "retarget") {
            take(change(link, { by: ACCOUNT, at: AT, change: { type: "retarget", to: one.url } }));
            continue;
          }
          rules = edited(rules, one, n);
          const sent = rules.map(
            ({ key, isNamed, condition, url, name }): LinkRule => ({
              ...(isNamed && { id: ids.get(key) as string }),
              ...(name !== undefined && { name }),
              when: { query: [["r", condition]] },
              url,
            }),
          );
          const options = { rules: rules.length === 0 ? null : sent };
          take(change(link, { by: ACCOUNT, at: AT, change: { type: "set", options } }));
          const now = (link.rules ?? []).map(({ id }) => id as string);
          expect(new Set(now).size).toBe(rules.length);
          for (const [index, { key }] of rules.entries()) {
            const id = now[index] as string;
            if (!ids.has(key)) expect([...ids.values()]).not.toContain(id);
            expect(id).toBe(ids.get(key) ?? id);
            ids.set(key, id);
          }
        }
        const { columns, rows } = decodeChunk(table.document());
        const found = new Map<string, number>();
        for (let row = 0; row < rows; row++) {
          const [id, url] = (["rule", "destination"] as const).map((name) => {
            const { values, rows: codes } = columns[name];
            return values[codes[row] as number];
          });
          if (id === "") continue;
          const key = JSON.stringify([id === NO_RULE ? null : id, url]);
          found.set(key, (found.get(key) ?? 0) + 1);
        }
        expect(found).toEqual(led);
      }),
      { numRuns: effort(300, 5_000) },
    );
  });

  it("are the same as those of another link, whatever ids both have", () => {
    const of = (id: string) => ({
      ...{ accountId: ACCOUNT, host: "sho.rt", longUrl: "https://example.com/" },
      rules: [{ id, when: { os: ["iOS"] }, url: "https://example.com/app" }],
    });
    expect(fingerprintOf(of("a1b2c3d4e5f6"))).toBe(fingerprintOf(of("0123456789ab")));
  });
});

const HIT = {
  ...{ link: "", at: Date.parse(AT), method: "GET" as const, query: "", address: "203.0.113.9", country: "" },
  ...{ userAgent: "", referrer: "", language: "", prefetch: "" },
};
