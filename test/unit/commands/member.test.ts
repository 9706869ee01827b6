// The decider of an account's members, as given-when-then.
import { describe, it } from "vitest";
import { type AccountState, evolve, noAccount } from "../../../src/commands/account/account.ts";
import { issue } from "../../../src/commands/account/decide-key.ts";
import { accept, changeRole, invite, remove, withdraw } from "../../../src/commands/account/decide-member.ts";
import type { AccountEvent } from "../../../src/events/catalogue.ts";
import type { Role } from "../../../src/events/vocabulary.ts";
import { deciderOf } from "../../support/commands/given-when-then.ts";

const [owner, admin, editor, viewer, other] = [0, 1, 2, 3, 4].map(
  (n) => `11111111-1111-4111-8111-11111111111${n}`,
) as [string, string, string, string, string];
const accountId = owner;
const invitationId = "55555555-5555-4555-8555-555555555555";
const keyId = "33333333-3333-4333-8333-333333333333";
const at = "2026-01-02T00:00:00.000Z";
const expiresAt = "2026-01-09T00:00:00.000Z";
const account = deciderOf<AccountState, AccountEvent>(noAccount, evolve);
const by = (id: string) => ({ type: "person", id }) as const;

const joined = (personId: string, role: Role): AccountEvent => ({
  type: "MemberJoined",
  data: { accountId, personId, role, invitationId: keyId, at },
});
const members: AccountEvent[] = [
  { type: "AccountOpened", data: { accountId, tier: "free", at } },
  joined(admin, "admin"),
  joined(editor, "editor"),
  joined(viewer, "viewer"),
];
const invited = (role: Role, invitedBy: string): AccountEvent => ({
  type: "MemberInvited",
  data: { accountId, invitationId, role, expiresAt, at, invitedBy },
});
const given = (personId: string, from: Role, to: Role): AccountEvent => ({
  type: "MemberRoleChanged",
  data: { accountId, personId, from, to, at },
});
const removed = (personId: string): AccountEvent => ({
  type: "MemberRemoved",
  data: { accountId, personId, at },
});
const asks = (role: Role, who: string) => (a: AccountState) =>
  invite(a, { invitationId, role, expiresAt, at }, by(who));
const joins = (a: AccountState) => accept(a, { invitationId, personId: other, at });
const changes = (personId: string, role: Role, who: string) => (a: AccountState) =>
  changeRole(a, { personId, role, at }, by(who));
const removes = (personId: string, who: string) => (a: AccountState) => remove(a, { personId, at }, by(who));

describe("an invitation", () => {
  it("is sent by owners and admins, up to their own role", () => {
    account(members, asks("admin", admin), [invited("admin", admin)]);
    account(members, asks("owner", owner), [invited("owner", owner)]);
    account(members, asks("owner", admin), "role_too_high");
    for (const who of [editor, viewer, other]) account(members, asks("viewer", who), "not_permitted");
  });

  it("is not raised, sent again or withdrawn by who could not have sent it", () => {
    const pending = [...members, invited("owner", owner)];
    account(pending, asks("viewer", admin), "role_too_high");
    account(pending, (a) => withdraw(a, { invitationId, at }, by(admin)), "role_too_high");
    account(pending, (a) => withdraw(a, { invitationId, at }, by(owner)), [
      { type: "InvitationWithdrawn", data: { accountId, invitationId, at } },
    ]);
  });

  it("is worth what its sender may give when it is accepted", () => {
    const pending = [...members, invited("admin", admin)];
    const accepted: AccountEvent[] = [
      { type: "MemberJoined", data: { accountId, personId: other, role: "admin", invitationId, at } },
    ];
    account(pending, joins, accepted);
    account([...pending, given(admin, "admin", "editor")], joins, "token_expired");
    account([...pending, removed(admin)], joins, "token_expired");
    const back = [given(admin, "admin", "editor"), given(admin, "editor", "owner")];
    account([...pending, ...back], joins, accepted);
  });

  it("works once, until it expires or is withdrawn, and for who is no member", () => {
    const pending = [...members, invited("editor", owner)];
    account(pending, (a) => accept(a, { invitationId, personId: other, at: expiresAt }), "token_expired");
    account(pending, (a) => accept(a, { invitationId, personId: viewer, at }), "already_member");
    const over: AccountEvent = { type: "InvitationWithdrawn", data: { accountId, invitationId, at } };
    account([...pending, over], joins, "token_expired");
    const spent: AccountEvent = {
      type: "MemberJoined",
      data: { accountId, personId: other, role: "editor", invitationId, at },
    };
    account([...pending, spent], (a) => accept(a, { invitationId, personId: keyId, at }), "token_expired");
  });
});

describe("a role", () => {
  it("is changed up to one's own, and downwards of oneself", () => {
    account(members, changes(viewer, "admin", admin), [given(viewer, "viewer", "admin")]);
    account(members, changes(viewer, "owner", admin), "role_too_high");
    account(members, changes(owner, "viewer", admin), "role_too_high");
    account(members, changes(editor, "viewer", editor), [given(editor, "editor", "viewer")]);
    account(members, changes(editor, "admin", editor), "role_too_high");
    account(members, changes(viewer, "viewer", editor), "not_permitted");
    account(members, changes(other, "viewer", owner), "member_not_found");
    account(members, changes(other, "viewer", viewer), "not_permitted");
  });

  it("of the last owner stays", () => {
    account(members, changes(owner, "admin", owner), "last_owner");
    account(members, removes(owner, owner), "last_owner");
    account(members, (a) => remove(a, { personId: owner, at }, { type: "operator" }), "last_owner");
    const two = [...members, given(admin, "admin", "owner")];
    account(two, changes(owner, "admin", owner), [given(owner, "owner", "admin")]);
    account(two, removes(owner, admin), [removed(owner)]);
    account([...two, removed(owner)], removes(admin, owner), "not_permitted");
  });
});

describe("a membership", () => {
  it("ends by who may, or by oneself, and takes the member's own keys along", () => {
    const own = { keyId, keyHash: "0".repeat(64), hint: "abcd", label: "", personId: editor, at };
    const key: AccountEvent = { type: "KeyIssued", data: { accountId, ...own } };
    const off: AccountEvent = { type: "KeyDeactivated", data: { accountId, keyId, at } };
    account([...members, key], removes(editor, editor), [off, removed(editor)]);
    account([...members, key], removes(editor, admin), [off, removed(editor)]);
    account(members, removes(editor, viewer), "not_permitted");
    account(members, removes(owner, admin), "role_too_high");
  });

  it("has keys of one's own as an editor, and those of the account as an admin", () => {
    const key = { keyId, keyHash: "0".repeat(64), hint: "abcd", label: "", at };
    const own = (personId: string, who: string) => (a: AccountState) =>
      issue(a, { ...key, personId }, by(who));
    account(members, own(editor, editor), [
      { type: "KeyIssued", data: { accountId, ...key, personId: editor } },
    ]);
    account(members, own(viewer, viewer), "not_permitted");
    account(members, own(owner, admin), "not_permitted");
    account(members, (a) => issue(a, key, by(editor)), "not_permitted");
    account(members, (a) => issue(a, key, by(admin)), [{ type: "KeyIssued", data: { accountId, ...key } }]);
  });
});
