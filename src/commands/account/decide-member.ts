// Decider of an account's members: invited, joined, given another role, removed. Pure; their state is part of the account's
// (account.ts). Nobody gives more than they have at the time of the decision, whatever they had when they asked.
import type { AccountEvent } from "../../events/catalogue.ts";
import { type Role, STREAM_LIMITS } from "../../events/vocabulary.ts";
import type { Actor } from "../../stores/event-store/port.ts";
import { isWithin, may } from "../people/rights.ts";
import { Refused } from "../refusals.ts";
import { type AccountState, type Invitation, type OpenAccount, opened, withRoom } from "./account.ts";
import { isThemselves, requireRight, roleById } from "./authority.ts";

/** `at`: ISO 8601 UTC. */
type Asked = { at: string };

/** The right to decide about members with these roles. @throws not_permitted, role_too_high */
function requireRank(account: OpenAccount, actor: Actor, at: string, ...roles: readonly Role[]): void {
  const most = requireRight(account, actor, "members", at);
  if (!roles.every((role) => isWithin(role, most))) throw new Refused("role_too_high");
}

/**
 * Of an open invitation with this id: sends it again, with the new role.
 * @throws not_permitted, role_too_high, too_many_members, account_not_found, history_full
 */
export function invite(
  account: AccountState,
  c: Asked & { invitationId: string; role: Role; expiresAt: string },
  actor: Actor,
): AccountEvent[] {
  const open = withRoom(account);
  const before = open.invitations.get(c.invitationId);
  requireRank(open, actor, c.at, c.role, ...(before ? [before.role] : []));
  if (!before && openInvitations(open, c.at).length >= STREAM_LIMITS.invitations)
    throw new Refused(
      "too_many_members",
      `${STREAM_LIMITS.invitations} invitations are open: withdraw one first`,
    );
  const invitedBy = actor.type === "person" || actor.type === "key" ? actor.id : undefined;
  return [
    {
      type: "MemberInvited",
      data: { accountId: open.accountId, ...c, ...(invitedBy !== undefined && { invitedBy }) },
    },
  ];
}

/** Nothing where it is not open. @throws not_permitted, role_too_high, account_not_found */
export function withdraw(
  account: AccountState,
  c: Asked & { invitationId: string },
  actor: Actor,
): AccountEvent[] {
  const open = opened(account);
  const invitation = open.invitations.get(c.invitationId);
  requireRank(open, actor, c.at, ...(invitation ? [invitation.role] : []));
  return invitation ? [{ type: "InvitationWithdrawn", data: { accountId: open.accountId, ...c } }] : [];
}

/**
 * The invitation, while whoever sent it could send it still. @throws token_expired, already_member, too_many_members,
 * account_not_found, history_full
 */
export function accept(
  account: AccountState,
  c: Asked & { invitationId: string; personId: string },
): AccountEvent[] {
  const open = withRoom(account);
  const { accountId, members } = open;
  const invitation = open.invitations.get(c.invitationId);
  if (!invitation || !isOpen(open, invitation, c.at)) throw new Refused("token_expired");
  if (members.has(c.personId)) throw new Refused("already_member");
  keepRoom(open);
  return [{ type: "MemberJoined", data: { accountId, role: invitation.role, ...c } }];
}

/** What the operator's settings give to who comes from the provider; undefined for nothing any more. */
export type GivenRole = { personId: string; role: Role | undefined; through: "group" | "newcomer" };

/**
 * Makes a membership what the settings say. Groups change only memberships that came by groups, and the last owner stays one.
 * Nothing for an account that is closed or was never opened, as such a setting must not keep anybody from signing in.
 * @throws too_many_members, history_full
 */
export function followSettings(
  account: AccountState,
  { personId, role, through, at }: Asked & GivenRole,
): AccountEvent[] {
  if (account.status !== "open") return [];
  const { accountId } = account;
  const member = account.members.get(personId);
  if (!member) {
    if (role === undefined) return [];
    keepRoom(withRoom(account));
    return [{ type: "MemberJoined", data: { accountId, personId, role, through, at } }];
  }
  if (!member.isByGroup || through !== "group" || member.role === role) return [];
  if (isLastOwner(account, member.role)) return [];
  if (role === undefined) return removal(account, personId, at);
  const { role: from } = member;
  return [{ type: "MemberRoleChanged", data: { accountId, personId, from, to: role, at } }];
}

/**
 * Down of oneself, up to one's own role of others. @throws not_permitted, role_too_high, member_not_found, last_owner,
 * account_not_found, history_full
 */
export function changeRole(
  account: AccountState,
  { personId, role, at }: Asked & { personId: string; role: Role },
  actor: Actor,
): AccountEvent[] {
  const open = withRoom(account);
  const from = member(open, personId, actor, at);
  if (from === role) return [];
  if (!isThemselves(actor, personId)) requireRank(open, actor, at, from, role);
  else if (!isWithin(role, from)) throw new Refused("role_too_high");
  keepAnOwner(open, from);
  return [{ type: "MemberRoleChanged", data: { accountId: open.accountId, personId, from, to: role, at } }];
}

/** Ends the member's keys, too. @throws not_permitted, role_too_high, member_not_found, last_owner, account_not_found */
export function remove(
  account: AccountState,
  { personId, at }: Asked & { personId: string },
  actor: Actor,
): AccountEvent[] {
  const open = opened(account);
  const role = member(open, personId, actor, at);
  if (!isThemselves(actor, personId)) requireRank(open, actor, at, role);
  keepAnOwner(open, role);
  return removal(open, personId, at);
}

function removal({ accountId, keys: all }: OpenAccount, personId: string, at: string): AccountEvent[] {
  const keys = [...all].filter(([, key]) => key.status === "active" && key.personId === personId);
  return [
    ...keys.map(([keyId]) => ({ type: "KeyDeactivated", data: { accountId, keyId, at } }) as const),
    { type: "MemberRemoved", data: { accountId, personId, at } },
  ];
}

/** By id, those that can be accepted at this time. */
export function openInvitations(account: OpenAccount, at: string): [string, Invitation][] {
  return [...account.invitations].filter(([, invitation]) => isOpen(account, invitation, at));
}

function isOpen(account: OpenAccount, { role, invitedBy, expiresAt }: Invitation, at: string): boolean {
  const most = invitedBy === undefined ? "owner" : roleById(account, invitedBy, at);
  return expiresAt > at && most !== undefined && may(most, "members") && isWithin(role, most);
}

/** Who is no member, and asks about others, does not learn who is one. */
function member(open: OpenAccount, personId: string, actor: Actor, at: string): Role {
  if (!isThemselves(actor, personId)) requireRight(open, actor, "members", at);
  const role = open.members.get(personId)?.role;
  if (role === undefined) throw new Refused("member_not_found");
  return role;
}

function keepAnOwner(account: OpenAccount, role: Role): void {
  if (isLastOwner(account, role)) throw new Refused("last_owner");
}

/** Whether a member with this role is the only owner. */
export function isLastOwner({ members }: OpenAccount, role: Role | undefined): boolean {
  return role === "owner" && [...members.values()].filter((member) => member.role === role).length === 1;
}

function keepRoom({ members }: OpenAccount): void {
  if (members.size >= STREAM_LIMITS.members)
    throw new Refused("too_many_members", `An account has at most ${STREAM_LIMITS.members} members`);
}
