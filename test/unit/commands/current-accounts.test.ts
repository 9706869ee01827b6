// Accounts kept in memory: as current as the log, whoever appended to it, and never changed under a command's hands.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { currentAccounts } from "../../../src/commands/account/accounts.ts";
import { closeAccount } from "../../../src/commands/account/close-account.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { changeTier } from "../../../src/commands/account/tier.ts";
import { openCommandDeps, operator } from "../../support/commands/command-deps.ts";

type Fixture = Awaited<ReturnType<typeof openCommandDeps>>;
let fixture: Fixture;
let deps: Fixture["deps"];
let accountId: string;
beforeEach(async () => {
  fixture = await openCommandDeps();
  deps = fixture.deps;
  ({ accountId } = await openAccount(deps, operator, { email: "owner@example.com", tier: "free" }));
});
afterEach(() => fixture.close());

it("reads nothing again while no account changes", async () => {
  const read = vi.spyOn(deps.eventStore, "read");
  const { current, known } = currentAccounts(deps.eventStore);
  expect(await known(accountId)).toBeUndefined();
  const first = await current(accountId);
  expect(first).toMatchObject({ status: "open", tier: "free" });
  read.mockClear();
  expect(await current(accountId)).toBe(first);
  expect(await known(accountId)).toBe(first);
  expect(read).not.toHaveBeenCalled();
});

it("reads a stream again only from where the kept account ends, after an event of another account", async () => {
  const { current, known } = currentAccounts(deps.eventStore);
  const first = await current(accountId);
  await openAccount(deps, operator, { email: "other@example.com", tier: "free" });
  expect(await known(accountId)).toBeUndefined();
  const read = vi.spyOn(deps.eventStore, "read");
  expect(await current(accountId)).toBe(first);
  expect(await Promise.all(read.mock.results.map(({ value }) => value))).toEqual([[]]);
  expect(await known(accountId)).toBe(first);
});

it("reads at each call from a store that can't say which event is the newest", async () => {
  const read = vi.fn<typeof deps.eventStore.read>((...asked) => deps.eventStore.read(...asked));
  const { current, known } = currentAccounts({ read });
  const first = await current(accountId);
  read.mockClear();
  expect(await current(accountId)).toBe(first);
  expect(read).toHaveBeenCalledTimes(1);
  expect(await known(accountId)).toBeUndefined();
});

it("shows what anybody has appended since, and leaves the account shown before as it was", async () => {
  const { current: currentAccount, known } = currentAccounts(deps.eventStore);
  const before = await currentAccount(accountId);
  await changeTier(deps, operator, accountId, "developer");
  expect(await known(accountId)).toBeUndefined();
  expect(await currentAccount(accountId)).toMatchObject({ tier: "developer" });
  expect(before).toMatchObject({ tier: "free" });
  await closeAccount(deps, operator, accountId);
  expect(await currentAccount(accountId)).toMatchObject({ status: "closed" });
});

it("does not keep that there is no account", async () => {
  const { current: currentAccount } = currentAccounts(deps.eventStore);
  const later = deps.newId();
  expect(await currentAccount(later)).toEqual({ status: "absent" });
  const { accountId: opened } = await openAccount({ ...deps, newId: () => later }, operator, {
    ...{ email: "later@example.com", tier: "free" },
  });
  expect(await currentAccount(opened)).toMatchObject({ status: "open" });
});
