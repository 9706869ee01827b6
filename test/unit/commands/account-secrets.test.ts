// Accounts' addresses and one-time tokens on real stores: races, interruptions, repetitions.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removePersonEverywhere } from "../../../src/commands/account/change-members.ts";
import { acceptInvitation, inviteMember } from "../../../src/commands/account/invitations.ts";
import { signUp } from "../../../src/commands/account/sign-up.ts";
import { registerPerson } from "../../../src/commands/people/change-person.ts";
import { changeEmail } from "../../../src/commands/people/email.ts";
import {
  confirmEmailChange,
  issueEmailChange,
  issueToken,
  lookAtToken,
  useToken,
} from "../../../src/commands/people/one-time-tokens.ts";
import { checkCredentials, hashPassword } from "../../../src/commands/people/password.ts";
import { openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { storeWith } from "../../support/runtime/store-with.ts";

const password = "seven brown foxes";
let opened: Awaited<ReturnType<typeof openCommandDeps>>;
let deps: (typeof opened)["deps"];
beforeAll(async () => {
  opened = await openCommandDeps();
  deps = opened.deps;
});
afterAll(() => opened.close());

async function member(email: string): Promise<string> {
  const passwordHash = await hashPassword(password);
  return (await signUp(deps, operator, { email, tier: "free", passwordHash, isProven: false })).accountId;
}

describe("a one-time link", () => {
  it("works once, also for ten concurrent uses, for its purpose and before its expiry", async () => {
    const { token } = await issueToken(deps, "password", { n: 1 }, 60_000);
    await expect(lookAtToken(deps, "email", token)).rejects.toThrow("used already");
    const later = { ...deps, clock: () => new Date(Date.now() + 60_001) };
    await expect(lookAtToken(later, "password", token)).rejects.toThrow("too old");
    const uses = await Promise.allSettled(
      Array.from({ length: 10 }, () => useToken(deps, "password", token)),
    );
    expect(uses.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(useToken(deps, "password", token)).rejects.toThrow("used already");
  });
});

describe("an invitation that somebody accepts while they are removed", () => {
  it.each(["before", "after"] as const)(
    "makes them no member: %s their removal is in the log",
    async (when) => {
      const accountId = await member(`host-${when}@example.com`);
      const email = `guest-${when}@example.com`;
      const { personId } = await registerPerson(deps, "r", email);
      const mailing = { ...deps, mailer: undefined, log: { error: () => undefined } };
      const { link } = await inviteMember(mailing, operator, accountId, { email, role: "editor" });
      const { id = "", token = "" } = Object.fromEntries(new URL(link ?? "").searchParams);
      const accept = (by = deps) => acceptInvitation(by, { requestId: "r" }, { id, token }, personId);
      const remove = (by = deps) => removePersonEverywhere(by, operator, personId);
      /** Runs the other one right before the first append to the stream. */
      const meeting = (stream: string, other: () => Promise<unknown>): typeof deps => {
        let hasMet = false;
        const append: typeof deps.eventStore.append = async (...events) => {
          if (events[0] === stream && !hasMet) {
            hasMet = true;
            await other();
          }
          return await deps.eventStore.append(...events);
        };
        return { ...deps, eventStore: storeWith(deps.eventStore, { append }) };
      };
      if (when === "before") await remove(meeting(`person-${personId}`, () => accept()));
      else
        await expect(accept(meeting(`account-${accountId}`, () => remove()))).rejects.toThrow(
          "no such person",
        );
      const account = await deps.currentAccount(accountId);
      expect(account.status === "open" && [...account.members.keys()]).toEqual([accountId]);
    },
  );

  it("removes them also where they have left by themselves when that is looked at", async () => {
    const accountId = await member("left-late@example.com");
    const { personId } = await registerPerson(deps, "r", "late@example.com");
    const seen = [[], [accountId]];
    const accountsOf = async () => seen.shift() ?? [];
    const removed = await removePersonEverywhere({ ...deps, accountsOf }, operator, personId);
    expect(removed.accounts).toEqual([accountId]);
    await expect(removePersonEverywhere(deps, operator, personId)).rejects.toThrow("no such person");
  });
});

describe("an address", () => {
  it("whose sign-up stalls goes to who signs up meanwhile, with that password, and to nobody else", async () => {
    const email = "stalled@example.com";
    const signUpWith = async (given: string, by: typeof deps) => {
      const passwordHash = await hashPassword(given);
      return (await signUp(by, operator, { email, tier: "free", passwordHash, isProven: false })).accountId;
    };
    const [reached, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const append: typeof deps.eventStore.append = async (...request) => {
      reached.resolve();
      await goesOn.promise;
      return await deps.eventStore.append(...request);
    };
    const stalled = signUpWith("stalled brown foxes", {
      ...deps,
      eventStore: storeWith(deps.eventStore, { append }),
    });
    await reached.promise;
    const later = { ...deps, clock: () => new Date(Date.now() + 31_000) };
    const accountId = await signUpWith(password, later);
    goesOn.resolve();
    await expect(stalled).rejects.toMatchObject({ code: "email_taken" });
    expect(await checkCredentials(deps, { email, password })).toMatchObject({ personId: accountId });
    const other = checkCredentials(deps, { email, password: "stalled brown foxes" });
    await expect(other).rejects.toMatchObject({ code: "wrong_credentials" });
  });

  it("can be confirmed in another spelling by its account alone", async () => {
    const accountId = await member("spelling@example.com");
    const stranger = await member("stranger@example.com");
    const issued = (by: string) => issueEmailChange(deps, by, "Spelling@example.com", 60_000);
    expect(await issued(stranger)).toBeUndefined();
    const token = String((await issued(accountId))?.path.split("token=")[1]);
    await confirmEmailChange(deps, token);
    expect(await checkCredentials(deps, { email: "spelling@example.com", password })).toMatchObject({
      personId: accountId,
    });
  });

  it("that is stale goes to one of five newcomers and of two accounts that move to it", async () => {
    const email = "contested@example.com";
    const movers = [await member("mover-1@example.com"), await member("mover-2@example.com")];
    const cutOff = storeWith(deps.secrets, { put: () => Promise.reject(new Error("cut off")) });
    const left = await member("left-behind@example.com");
    await expect(changeEmail({ ...deps, secrets: cutOff }, left, email)).rejects.toThrow("cut off");
    const settled = await Promise.allSettled<string>([
      ...Array.from({ length: 5 }, () => member(email)),
      ...movers.map(async (accountId) => {
        await changeEmail(deps, accountId, email);
        return accountId;
      }),
    ]);
    const won = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(won).toHaveLength(1);
    for (const one of settled)
      if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "email_taken" });
    expect((await checkCredentials(deps, { email, password })).personId).toBe(won[0]);
  });

  it("that a cut-off change left behind signs nobody in, and is free to take", async () => {
    const accountId = await member("kept@example.com");
    const cutOff = storeWith(deps.secrets, { put: () => Promise.reject(new Error("cut off")) });
    await expect(changeEmail({ ...deps, secrets: cutOff }, accountId, "left@example.com")).rejects.toThrow();
    const signIn = (email: string) => checkCredentials(deps, { email, password });
    expect(await signIn("kept@example.com")).toMatchObject({ personId: accountId });
    await expect(signIn("left@example.com")).rejects.toThrow("go together");
    const other = await member("other@example.com");
    await changeEmail(deps, other, "left@example.com");
    expect(await signIn("left@example.com")).toMatchObject({ personId: other });
  });
});
