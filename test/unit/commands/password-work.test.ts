// The limit on concurrent password hashing under overload, and what is hashed at all.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { opened } from "../../../src/commands/account/account.ts";
import { loadAccount } from "../../../src/commands/account/account-stream.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { createLinksInBulk } from "../../../src/commands/links/bulk/bulk-requests.ts";
import { createLink } from "../../../src/commands/links/create-link.ts";
import { passwordWork } from "../../../src/commands/password-work.ts";
import { plainCsv } from "../../../src/transfer/import/formats/plain-csv.ts";
import { textSource } from "../../../src/transfer/import/reading/lines.ts";
import { runImport } from "../../../src/transfer/import/run-import.ts";
import { callerOf, openCommandDeps, operator } from "../../support/commands/command-deps.ts";

/** Work that ends with `endAll`; `ends`: functions that end the work in progress. */
function held() {
  const ends: (() => void)[] = [];
  return {
    ends,
    async endAll() {
      for (const end of ends.splice(0)) end();
      await new Promise(setImmediate);
    },
    work: () => new Promise<string>((resolve) => ends.push(() => resolve("done"))),
  };
}

describe("hashing passwords", () => {
  it("hashes two at a time, lets 50 of a kind wait, and refuses the next", async () => {
    const { unknown } = passwordWork();
    const { ends, endAll, work } = held();
    const requests = Array.from({ length: 60 }, () => unknown(work));
    const settled = Promise.allSettled(requests);
    await Promise.allSettled(requests.slice(-1));
    expect(ends).toHaveLength(2);
    while (ends.length > 0) {
      await endAll();
      expect(ends.length).toBeLessThanOrEqual(2);
    }
    const outcomes = await settled;
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThanOrEqual(8);
    expect(outcomes.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(50);
    expect((refused[0] as PromiseRejectedResult).reason).toMatchObject({ code: "too_busy" });
  });

  it("takes an owner first, and one of each other kind in turns, while strangers fill everything", async () => {
    const { known, unknown, visitors, links } = passwordWork();
    const flood = held();
    const order: string[] = [];
    const strangers = Array.from({ length: 60 }, () =>
      unknown(() => {
        order.push("unknown");
        return flood.work();
      }),
    );
    const settled = Promise.allSettled(strangers);
    const noted = Object.entries({ links, visitors, known }).map(([name, hash]) =>
      hash(async () => order.push(name)),
    );
    await new Promise(setImmediate);
    flood.ends.shift()?.();
    await Promise.all(noted);
    await new Promise(setImmediate);
    expect(order).toEqual(["unknown", "unknown", "known", "visitors", "links", "unknown"]);
    while (flood.ends.length > 0) await flood.endAll();
    await settled;
  });
});

describe("passwords of links", () => {
  let fixture: Awaited<ReturnType<typeof openCommandDeps>>;
  let accountId = "";
  beforeEach(async () => {
    fixture = await openCommandDeps();
    accountId = (await openAccount(fixture.deps, operator, { email: "a@example.com", tier: "developer" }))
      .accountId;
  });
  afterEach(() => fixture.close());

  /** `hashed`: how many passwords of links were. `asked`: that are hashed or wait, and how many `most`. */
  function counting(hash = (work: () => Promise<unknown>) => work()) {
    const work = passwordWork();
    const count = { hashed: 0, asked: 0, most: 0 };
    const links: typeof work.links = async (given) => {
      count.most = Math.max(count.most, ++count.asked);
      try {
        return await work.links(() => {
          count.hashed++;
          return hash(given) as ReturnType<typeof given>;
        });
      } finally {
        count.asked--;
      }
    };
    return { work, count, deps: { ...fixture.deps, passwordWork: { ...work, links } } };
  }

  it("of twenty bulks at once let everybody sign in before them, and one more link wait for one of each", async () => {
    const { ends, work: end } = held();
    let isHeld = true;
    const { work, count, deps } = counting(async () => {
      if (isHeld) await end();
      return "a hash";
    });
    const by = callerOf(accountId, "developer");
    const links = Array.from({ length: 5 }, () => ({ url: "https://example.com/", password: "opensesame" }));
    const bulks = Array.from({ length: 20 }, () => createLinksInBulk(deps, operator, by, links));
    await expect.poll(() => count.asked).toBe(20);
    const signIns = Promise.all([
      work.unknown(async () => count.hashed),
      work.known(async () => count.hashed),
    ]);
    let [isQueued, hashedBefore] = [false, 0];
    const ofSingle: typeof work.links = (hash) => {
      isQueued = true;
      return work.links(() => {
        hashedBefore = count.hashed;
        return hash();
      });
    };
    const singleDeps = { ...deps, passwordWork: { ...work, links: ofSingle } };
    const single = createLink(singleDeps, operator, by, links[0] as (typeof links)[0]);
    await expect.poll(() => isQueued).toBe(true);
    expect(ends).toHaveLength(2);
    ends.shift()?.();
    expect(await signIns).toEqual([2, 2]);
    isHeld = false;
    for (const go of ends.splice(0)) go();
    await single;
    expect(hashedBefore).toBeLessThanOrEqual(22);
    const made = await Promise.all(bulks);
    expect(made.map(({ results }) => results.length)).toEqual(Array(20).fill(5));
    expect([count.hashed, count.most]).toEqual([100, 20]);
  });

  it("are hashed once each where a link is made, and never for a preview or what is refused", async () => {
    const { count, deps } = counting();
    const account = opened(await loadAccount(deps.eventStore, accountId));
    const rows = ["one", "two", "three"].map((slug) => `https://example.com/${slug},${slug}-slug,opensesame`);
    const run = (dryRun: boolean) =>
      runImport(
        deps,
        { account, context: operator, domain: undefined, keyId: undefined, dryRun },
        {
          format: plainCsv,
          links: textSource("list", `url,slug,password\n${rows.join("\n")}`),
          clicks: undefined,
        },
      );
    expect([(await run(true)).links.created, count.hashed]).toEqual([3, 0]);
    expect([(await run(false)).links.created, count.hashed]).toEqual([3, 3]);
    expect([(await run(false)).links.already, count.hashed]).toEqual([3, 3]);
    const by = callerOf(accountId, "developer");
    const refused = { url: "ftp://example.com/", password: "opensesame" };
    await expect(createLink(deps, operator, by, refused)).rejects.toMatchObject({ code: "invalid_url" });
    const taken = { url: "https://example.com/", customSlug: "one-slug", password: "opensesame" };
    const withSlugs = { ...deps, baseHostSlugs: true };
    await expect(createLink(withSlugs, operator, by, taken)).rejects.toMatchObject({ code: "slug_taken" });
    expect(count.hashed).toBe(3);
  });
});
