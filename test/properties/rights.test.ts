// Nobody gets a right by whatever order of invitations, acceptances, changes of roles, removals and keys, unless who gave it
// had it at that moment; and an account always has an owner.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AccountState,
  evolve,
  noAccount,
  type OpenAccount,
  open,
  opened,
} from "../../src/commands/account/account.ts";
import { roleOf } from "../../src/commands/account/authority.ts";
import { deactivate, issue, rotate } from "../../src/commands/account/decide-key.ts";
import { accept, changeRole, invite, remove, withdraw } from "../../src/commands/account/decide-member.ts";
import { isWithin, may, RIGHTS, type Right } from "../../src/commands/people/rights.ts";
import { isClientError } from "../../src/commands/refusals.ts";
import type { AccountEvent } from "../../src/events/catalogue.ts";
import { ROLES, type Role } from "../../src/events/vocabulary.ts";
import type { Actor } from "../../src/stores/event-store/port.ts";

const person = (n: number) => `11111111-1111-4111-8111-11111111111${n}`;
const keyOf = (n: number) => `33333333-3333-4333-8333-33333333333${n}`;
const invitation = (n: number) => `55555555-5555-4555-8555-55555555555${n}`;
const accountId = person(0);
const PEOPLE = [0, 1, 2, 3, 4].map(person);
const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 3_600_000).toISOString();
const LIMITS = {
  free: { requestsPerHour: 1, activeKeys: 9 },
  developer: { requestsPerHour: 1, activeKeys: 9 },
  webhooks: 0,
};

/** The first two, an owner and an admin, most of all. */
const someone = fc.constantFrom(0, 0, 0, 1, 1, 1, 2, 3, 4).map(person);
const actor: fc.Arbitrary<Actor> = fc.oneof(
  { weight: 6, arbitrary: someone.map((id) => ({ type: "person" as const, id })) },
  { weight: 2, arbitrary: fc.nat({ max: 1 }).map((n) => ({ type: "key" as const, id: keyOf(n) })) },
  { weight: 1, arbitrary: fc.constant({ type: "system" as const, id: "sign-up" }) },
);
const role = fc.constantFrom(...ROLES);
const which = fc.nat({ max: 1 });
const command = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("invite" as const), which, role, days: fc.constantFrom(0, 7, 7) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("accept" as const), which, personId: someone }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("withdraw" as const), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("role" as const), personId: someone, role }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), personId: someone }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("issue" as const), which, personId: fc.option(someone) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("rotate" as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("deactivate" as const), which }) },
);
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

function decide(account: AccountState, c: Command, by: Actor, now: string): AccountEvent[] {
  const secret = { keyHash: "0".repeat(64), hint: "abcd" };
  switch (c.do) {
    case "invite": {
      const expiresAt = new Date(Date.parse(now) + c.days * 86_400_000).toISOString();
      const terms = { invitationId: invitation(c.which), role: c.role, expiresAt };
      return invite(account, { ...terms, at: now }, by);
    }
    case "accept":
      return accept(account, { invitationId: invitation(c.which), personId: c.personId, at: now });
    case "withdraw":
      return withdraw(account, { invitationId: invitation(c.which), at: now }, by);
    case "role":
      return changeRole(account, { personId: c.personId, role: c.role, at: now }, by);
    case "remove":
      return remove(account, { personId: c.personId, at: now }, by);
    case "issue": {
      const owner = c.personId === null ? {} : { personId: c.personId };
      return issue(account, { keyId: keyOf(c.which), ...secret, label: "", ...owner, at: now }, by, LIMITS);
    }
    case "rotate":
      return rotate(account, { keyId: keyOf(c.which), ...secret, until: now, at: now }, by);
    case "deactivate":
      return deactivate(account, { keyId: keyOf(c.which), at: now }, by);
  }
}

/** An owner, an admin, an editor and a viewer; the last person is no member. */
function beginning(): AccountEvent[] {
  const joined = ROLES.slice(1).map((given, n): AccountEvent => {
    const of = { personId: person(n + 1), role: given, invitationId: invitation(9) };
    return { type: "MemberJoined", data: { accountId, ...of, at: at(0) } };
  });
  return [...open(noAccount, { accountId, tier: "free", at: at(0) }), ...joined];
}

/** The rights of each person and key, and who holds the text of each key. */
function rightsOf(account: OpenAccount, now: string): Map<string, Role | undefined> {
  const actors = [
    ...PEOPLE.map((id) => ({ type: "person", id }) as const),
    ...[0, 1].map((n) => ({ type: "key", id: keyOf(n) }) as const),
  ];
  return new Map(actors.map((one) => [one.id, roleOf(account, one, now)]));
}

const mayDo = (held: Role | undefined, right: Right) => held !== undefined && may(held, right);

describe("rights", () => {
  it("are given by nobody who has them not, and an account keeps an owner", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(actor, command), { minLength: 1, maxLength: 60 }), (steps) => {
        let account: AccountState = beginning().reduce(evolve, noAccount);
        for (const [n, [by, c]] of steps.entries()) {
          const now = at(n + 1);
          const before = rightsOf(opened(account), now);
          const inviter =
            c.do === "accept" && opened(account).invitations.get(invitation(c.which))?.invitedBy;
          let events: AccountEvent[];
          try {
            events = decide(account, c, by, now);
          } catch (error) {
            if (!isClientError(error)) throw error;
            continue;
          }
          account = events.reduce(evolve, account);
          const giver = inviter || ("id" in by ? by.id : "");
          for (const [id, after] of rightsOf(opened(account), now))
            for (const right of Object.keys(RIGHTS) as Right[])
              if (mayDo(after, right) && !mayDo(before.get(id), right))
                expect([
                  c.do,
                  mayDo(before.get(giver), right),
                  mayDo(before.get(giver), "members") || c.do === "issue",
                ]).toEqual([c.do, true, true]);
          if (c.do === "issue" || c.do === "rotate")
            for (const right of Object.keys(RIGHTS) as Right[])
              if (mayDo(rightsOf(opened(account), now).get(keyOf(c.which)), right))
                expect(["a key's text", mayDo(before.get(giver), right)]).toEqual(["a key's text", true]);
          const owners = [...opened(account).members.values()].filter((member) => member.role === "owner");
          expect(owners.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("of a higher role contain those of a lower one", () => {
    for (const higher of ROLES)
      for (const lower of ROLES.filter((one) => isWithin(one, higher)))
        for (const right of Object.keys(RIGHTS) as Right[])
          if (may(lower, right)) expect([higher, right, may(higher, right)]).toEqual([higher, right, true]);
  });
});
