// Accounts kept in memory: as current as the log, whoever appended to it, and never changed under a command's hands.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { changeTier } from "../../../src/commands/account/change-tier.ts";
import { closeAccount } from "../../../src/commands/account/close-account.ts";
import { currentAccounts } from "../../../src/commands/account/current-accounts.ts";
import { openAccount } from "../../../src/commands/account/open-account.ts";
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

it("reads a stream again only from where the kept account ends", async () => {
  const read = vi.spyOn(deps.eventStore, "read");
  const currentAccount = currentAccounts(deps.eventStore);
  const first = await currentAccount(accountId);
  expect(first).toMatchObject({ status: "open", tier: "free" });
  read.mockClear();
  expect(await currentAccount(accountId)).toBe(first);
  expect(read).toHaveBeenCalledTimes(1);
  expect(await Promise.all(read.mock.results.map(({ value }) => value))).toEqual([[]]);
});

it("shows what anybody has appended since, and leaves the account shown before as it was", async () => {
  const currentAccount = currentAccounts(deps.eventStore);
  const before = await currentAccount(accountId);
  await changeTier(deps, operator, accountId, "developer");
  expect(await currentAccount(accountId)).toMatchObject({ tier: "developer" });
  expect(before).toMatchObject({ tier: "free" });
  await closeAccount(deps, operator, accountId);
  expect(await currentAccount(accountId)).toMatchObject({ status: "closed" });
});

it("does not keep that there is no account", async () => {
  const currentAccount = currentAccounts(deps.eventStore);
  const later = deps.newId();
  expect(await currentAccount(later)).toEqual({ status: "absent" });
  const { accountId: opened } = await openAccount({ ...deps, newId: () => later }, operator, {
    ...{ email: "later@example.com", tier: "free" },
  });
  expect(await currentAccount(opened)).toMatchObject({ status: "open" });
});
