// The daily look at the TXT records of custom domains (docs/custom-domains.md).
import { afterEach, beforeEach, expect, it } from "vitest";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { addDomain, verifyDomain } from "../../../src/commands/domains/change-domains.ts";
import { domains } from "../../../src/projections/definitions/domains.ts";
import { checkDueDomains } from "../../../src/service/jobs/domain-checks.ts";
import { openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { putDocuments } from "../../support/runtime/stores.ts";

const HOST = "go.example.com";
const DAY_MS = 86_400_000;

let opened: Awaited<ReturnType<typeof openCommandDeps>>;
let now: number;
/** DNS answer for the TXT record. */
let txt: () => Promise<string[][]>;
beforeEach(async () => {
  opened = await openCommandDeps();
  now = Date.parse("2026-03-01T10:00:00.000Z");
});
afterEach(() => opened.close());

const deps = () => ({
  ...opened.deps,
  clock: () => new Date(now),
  resolveTxt: () => txt(),
  log: { info: () => undefined, warn: () => undefined },
});
const check = () => checkDueDomains(deps(), new AbortController().signal);

async function verified({ skipDns = false, email = "a@example.com", host = HOST } = {}) {
  const { accountId } = await openAccount(deps(), operator, { email, tier: "developer" });
  const { record } = await addDomain(deps(), operator, accountId, host);
  txt = async () => [[record.value]];
  await verifyDomain(deps(), operator, accountId, host, { skipDns });
  await opened.catchUp();
  return async () => {
    await opened.catchUp();
    const found = await opened.deps.readStore.find(domains.collection.name, { limit: 1 });
    return found[0] as { recordLostAt?: string | null; active?: boolean } | undefined;
  };
}

it("looks for the record once a day, from a day after the verification on", async () => {
  await verified();
  now += DAY_MS - 1;
  expect(await check()).toBe(0);
  now += 1;
  expect([await check(), await check()]).toEqual([1, 0]);
  now += DAY_MS;
  expect([await check(), await check()]).toEqual([1, 0]);
});

it("makes a domain inactive whose record it finds missing for seven days", async () => {
  const domain = await verified();
  txt = async () => [["v=spf1 -all"]];
  for (let day = 0; day < 7; day++) {
    now += DAY_MS;
    await check();
    expect(await domain()).toMatchObject({ active: true, recordLostAt: expect.any(String) });
  }
  now += DAY_MS;
  await check();
  expect(await domain()).toMatchObject({ active: false });
});

it("looks again at its next run when the name servers did not answer", async () => {
  const domain = await verified();
  txt = () => Promise.reject(Object.assign(new Error("queryTxt ETIMEOUT"), { code: "ETIMEOUT" }));
  now += DAY_MS;
  expect([await check(), await check()]).toEqual([1, 1]);
  expect(await domain()).toMatchObject({ active: true, recordLostAt: null });
});

it("leaves domains alone that the operator vouched for", async () => {
  await verified({ skipDns: true });
  now += DAY_MS;
  expect(await check()).toBe(0);
});

it("reaches every domain, however many there are", async () => {
  await verified();
  const [one] = await opened.deps.readStore.find(domains.collection.name, { limit: 1 });
  const more = Array.from({ length: 400 }, (_, n) => ({
    ...(one as NonNullable<typeof one>),
    ...{ _id: `another/${n}.example.com`, accountId: "another", domainId: `domain-${n}` },
  }));
  await putDocuments(opened.foldStore, domains.collection.name, more);
  now += DAY_MS;
  expect(await check()).toBe(401);
});
