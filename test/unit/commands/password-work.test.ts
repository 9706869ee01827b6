// The limit on concurrent password hashing under overload, and what is hashed at all.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadOpenAccount } from "../../../src/commands/account/accounts.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { createLinksInBulk } from "../../../src/commands/links/bulk/create-links-in-bulk.ts";
import { createLink } from "../../../src/commands/links/create-link.ts";
import { passwordWork } from "../../../src/commands/password-work.ts";
import { plainCsv } from "../../../src/transfer/import/formats/plain-csv.ts";
import { textSource } from "../../../src/transfer/import/lines.ts";
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
  it("hashes one of a kind at a time, lets 50 wait, and refuses the next", async () => {
    const { unknown } = passwordWork();
    const { ends, endAll, work } = held();
    const requests = Array.from({ length: 60 }, () => unknown(work));
    const settled = Promise.allSettled(requests);
    await Promise.allSettled(requests.slice(-1));
    expect(ends).toHaveLength(1);
    while (ends.length > 0) {
      await endAll();
      expect(ends.length).toBeLessThanOrEqual(1);
    }
    const outcomes = await settled;
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThanOrEqual(8);
    expect(outcomes.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(50);
    expect((refused[0] as PromiseRejectedResult).reason).toMatchObject({ code: "too_busy" });
  });

  it("takes an owner while strangers fill everything", async () => {
    const { known, unknown } = passwordWork();
    const flood = held();
    const strangers = Promise.allSettled(Array.from({ length: 60 }, () => unknown(flood.work)));
    expect(await known(async () => "let in")).toBe("let in");
    while (flood.ends.length > 0) await flood.endAll();
    await strangers;
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

  /** `hashed`: how many passwords of links were to be hashed, which is done once `gate` lets it. */
  function counting(gate: Promise<unknown> = Promise.resolve()) {
    const work = passwordWork();
    const count = { hashed: 0, asked: 0, most: 0 };
    const links: typeof work.links = async (hash) => {
      count.most = Math.max(count.most, ++count.asked);
      try {
        return await work.links(async () => {
          count.hashed++;
          await gate;
          return await hash();
        });
      } finally {
        count.asked--;
      }
    };
    return { work, count, deps: { ...fixture.deps, passwordWork: { ...work, links } } };
  }

  it("of twenty bulks at once let everybody sign in before them, and one more link wait for one of each", async () => {
    const gate = Promise.withResolvers<void>();
    const { work, count, deps } = counting(gate.promise);
    const by = callerOf(accountId, "developer");
    const links = Array.from({ length: 5 }, () => ({ url: "https://example.com/", password: "opensesame" }));
    const bulks = Array.from({ length: 20 }, () => createLinksInBulk(deps, operator, by, links));
    await expect.poll(() => count.asked).toBe(20);
    expect(await Promise.all([work.known(async () => "in"), work.unknown(async () => "in")])).toEqual([
      "in",
      "in",
    ]);
    const single = createLink(deps, operator, by, links[0] as (typeof links)[0]);
    await expect.poll(() => count.asked).toBe(21);
    expect(count.hashed).toBe(1);
    gate.resolve();
    await single;
    expect(count.hashed).toBeLessThanOrEqual(42);
    const made = await Promise.all(bulks);
    expect(made.map(({ bulk }) => bulk.results.length)).toEqual(Array(20).fill(5));
    expect([count.hashed, count.most]).toEqual([101, 21]);
  });

  it("are hashed once each where a link is made, and never for a preview or what is refused", async () => {
    const { count, deps } = counting();
    const account = await loadOpenAccount(deps.eventStore, accountId);
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
    expect(count.hashed).toBe(3);
  });
});
