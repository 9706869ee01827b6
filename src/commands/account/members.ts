// Invitations to an account, and what becomes of its members. The address that somebody is invited by is in the secrets, with
// the SHA-256 of the link's token; the link alone lets nobody in: whoever accepts it has that address.
import { hash, randomBytes } from "node:crypto";
import type { Role } from "../../events/vocabulary.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import { type Appended, type CommandDeps, isNotAppended } from "../handle-command.ts";
import { invitationMail, type MailDeps, tellPerson } from "../mail/people-mails.ts";
import { acceptEmail, personWithEmail, provedEmail } from "../people/email.ts";
import { newPassword } from "../people/password.ts";
import { type AccountsOf, byPerson, removePerson } from "../people/persons.ts";
import { registerPerson } from "../people/register-person.ts";
import { emailSecret, normalEmail, passwordSecret } from "../people/secrets.ts";
import { Refused } from "../refusals.ts";
import { type Invitation, type OpenAccount, opened } from "./account.ts";
import { changeAccount, loadAccount, onAccount } from "./account-stream.ts";
import { isThemselves, requireRight } from "./authority.ts";
import { accept, changeRole, invite, isLastOwner, openInvitations, remove, withdraw } from "./member.ts";
import { invitationSecret } from "./secrets.ts";

type Deps = CommandDeps & { secrets: Secrets };
type TellingDeps = CommandDeps & MailDeps;
type InvitationRecord = { accountId: string; email: string; tokenHash: string; isMailed: boolean };

/** How long an invitation can be accepted. */
export const MEMBER_INVITATION_MS = 7 * 86_400_000;

/** `link`: to the page where it is accepted, which is not stored; null where it was mailed, and is nobody else's to see. */
export type Invited = Appended & {
  invitationId: string;
  email: string;
  role: Role;
  expiresAt: string;
  link: string | null;
};

/**
 * Where the address has an open invitation to the account, that is sent again: its earlier link no longer works.
 * @throws invalid_email, already_member, not_permitted, role_too_high, too_many_members, account_not_found, history_full;
 * mail_not_sent, by which the invitation stays and can be sent again
 */
export async function inviteMember(
  deps: TellingDeps,
  context: CommandContext,
  accountId: string,
  request: { email: string; role: Role },
): Promise<Invited> {
  const email = acceptEmail(request.email);
  const at = deps.clock().toISOString();
  const account = opened(await loadAccount(deps.eventStore, accountId));
  requireRight(account, context.actor, "members", at);
  const holder = await personWithEmail(deps, email);
  if (holder && account.members.has(holder.personId)) throw new Refused("already_member");
  const open = await Promise.all(
    openInvitations(account, at).map(async ([id]) => ({ id, to: (await recordOf(deps, id))?.email })),
  );
  const before = open.find(({ to }) => to !== undefined && normalEmail(to) === normalEmail(email));
  return await send(deps, context, accountId, before?.id ?? deps.newId(), { ...request, email });
}

/** The earlier link no longer works. @throws invitation_not_found; as inviteMember does */
export async function resendInvitation(
  deps: TellingDeps,
  context: CommandContext,
  accountId: string,
  invitationId: string,
): Promise<Invited> {
  const { invitations } = opened(await loadAccount(deps.eventStore, accountId));
  const [record, invitation] = [await recordOf(deps, invitationId), invitations.get(invitationId)];
  if (!record || !invitation) throw new Refused("invitation_not_found");
  return await send(deps, context, accountId, invitationId, { email: record.email, role: invitation.role });
}

async function send(
  deps: TellingDeps,
  context: CommandContext,
  accountId: string,
  invitationId: string,
  { email, role }: { email: string; role: Role },
): Promise<Invited> {
  const { mailer, baseUrl } = deps;
  const token = randomBytes(32).toString("base64url");
  const expiresAt = new Date(deps.clock().getTime() + MEMBER_INVITATION_MS).toISOString();
  const { position } = await changeAccount(deps, context, accountId, (account, at, actor) =>
    invite(account, { invitationId, role, expiresAt, at }, actor),
  );
  const value: InvitationRecord = {
    accountId,
    email,
    tokenHash: hash("sha256", token),
    isMailed: mailer !== undefined,
  };
  await deps.secrets.put(invitationSecret(invitationId), { value, expiresAt });
  const link = `${baseUrl}/portal/invitation?id=${invitationId}&token=${token}`;
  await mailer?.send(invitationMail(email, link));
  return { invitationId, email, role, expiresAt, link: mailer ? null : link, position };
}

/** @throws invitation_not_found, not_permitted, role_too_high, account_not_found */
export async function withdrawInvitation(
  deps: Deps,
  context: CommandContext,
  accountId: string,
  invitationId: string,
): Promise<Appended> {
  const { events, position } = await onAccount(deps, context, accountId, (account, at, actor) =>
    withdraw(account, { invitationId, at }, actor),
  );
  if (events.length === 0) throw new Refused("invitation_not_found");
  await deps.secrets.delete(invitationSecret(invitationId));
  return { position };
}

/** A link as it was sent. */
export type InvitationLink = { id: string; token: string };

/** Reads an invitation without accepting it. @throws token_expired */
export async function lookAtInvitationLink(
  deps: Deps,
  { id, token }: InvitationLink,
): Promise<{ accountId: string; email: string; role: Role; isMailed: boolean }> {
  const record = await recordOf(deps, id);
  if (record?.tokenHash !== hash("sha256", token)) throw new Refused("token_expired");
  const account = await loadAccount(deps.eventStore, record.accountId);
  const at = deps.clock().toISOString();
  const open = account.status === "open" ? new Map(openInvitations(account, at)) : undefined;
  const { role } = open?.get(id) ?? ({} as Partial<Invitation>);
  if (role === undefined) throw new Refused("token_expired");
  return { ...record, role };
}

/**
 * By who has the address that it was sent to. @throws token_expired, other_address, already_member, too_many_members,
 * account_not_found, history_full
 */
export async function acceptInvitation(
  deps: Deps,
  { requestId }: Pick<CommandContext, "requestId">,
  link: InvitationLink,
  personId: string,
): Promise<Appended & { accountId: string }> {
  const { accountId, email, isMailed } = await lookAtInvitationLink(deps, link);
  const own = await deps.secrets.get(emailSecret(personId), deps.clock());
  if (typeof own !== "string" || normalEmail(own) !== normalEmail(email)) throw new Refused("other_address");
  const accepted = await acceptInvitationTo(deps, requestId, { accountId, invitationId: link.id }, personId);
  if (isMailed) await provedEmail(deps, personId, email);
  return { accountId, ...accepted };
}

/** Of whom it is known that they have the address that it was sent to. @throws as acceptInvitation does */
export async function acceptInvitationTo(
  deps: Deps,
  requestId: string,
  { accountId, invitationId }: { accountId: string; invitationId: string },
  personId: string,
): Promise<Appended> {
  const { position } = await changeAccount(deps, byPerson(requestId, personId), accountId, (account, at) =>
    accept(account, { invitationId, personId, at }),
  );
  await deps.secrets.delete(invitationSecret(invitationId));
  return { position };
}

/** Open ones of all accounts to this address: looked for at the first sign-in of somebody only. */
export async function invitationsTo(
  { secrets, clock, eventStore }: Deps,
  email: string,
): Promise<{ accountId: string; invitationId: string }[]> {
  const records = await secrets.list(invitationSecret(""), clock());
  const waiting: { accountId: string; invitationId: string }[] = [];
  for (const { key, value } of records) {
    const { accountId, email: to } = value as InvitationRecord;
    if (normalEmail(to) !== normalEmail(email)) continue;
    const invitationId = key.slice(invitationSecret("").length);
    const account = await loadAccount(eventStore, accountId);
    const open = account.status === "open" ? openInvitations(account, clock().toISOString()) : [];
    if (open.some(([id]) => id === invitationId)) waiting.push({ accountId, invitationId });
  }
  return waiting;
}

/**
 * By somebody who has never signed in: they are registered with the address that it was sent to, and this password.
 * `passwordHash`: of hashPassword. `epoch`: of the password.
 * @throws email_taken where the address is a person's by now; as acceptInvitation does
 */
export async function registerByInvitation(
  deps: Deps,
  { requestId }: Pick<CommandContext, "requestId">,
  link: InvitationLink,
  passwordHash: string,
): Promise<Appended & { accountId: string; personId: string; epoch: string }> {
  const { email } = await lookAtInvitationLink(deps, link);
  const password = newPassword(deps, passwordHash);
  const { personId } = await registerPerson(deps, requestId, email, (id) =>
    deps.secrets.put(passwordSecret(id), { value: password }),
  );
  const context = byPerson(requestId, personId);
  try {
    const joined = await acceptInvitation(deps, context, link, personId);
    return { ...joined, personId, epoch: password.epoch };
  } catch (error) {
    // Withdrawn in this moment: nobody stays registered for nothing.
    if (isNotAppended(error)) await removePerson(deps, context, personId);
    throw error;
  }
}

/** `told`: resolves once the member was told by mail, where the service sends any. */
export type MemberChanged = Appended & { told: Promise<void> };

/** @throws member_not_found, last_owner, not_permitted, role_too_high, account_not_found, history_full */
export async function changeMemberRole(
  deps: TellingDeps,
  context: CommandContext,
  accountId: string,
  personId: string,
  role: Role,
): Promise<MemberChanged> {
  const { events, before, position } = await onAccount(deps, context, accountId, (account, at, actor) =>
    changeRole(account, { personId, role, at }, actor),
  );
  const tell = async () => {
    if (events.length === 0 || isThemselves(context.actor, personId)) return;
    const account = await calledAs(deps, opened(before));
    await tellPerson(deps, personId, { what: "role", role, account, accountId });
  };
  return { position, told: tell() };
}

/** Their keys end with the membership. @throws member_not_found, last_owner, not_permitted, role_too_high, account_not_found */
export async function removeMember(
  deps: TellingDeps,
  context: CommandContext,
  accountId: string,
  personId: string,
): Promise<MemberChanged> {
  const { before, position } = await endMembership(deps, context, accountId, personId);
  const tell = async () => {
    if (isThemselves(context.actor, personId)) return;
    await tellPerson(deps, personId, { what: "removed", account: await calledAs(deps, opened(before)) });
  };
  return { position, told: tell() };
}

function endMembership(deps: CommandDeps, context: CommandContext, accountId: string, personId: string) {
  return onAccount(deps, context, accountId, (account, at, actor) =>
    remove(account, { personId, at }, actor),
  );
}

/** What members call the account: the name that it shows to visitors, else the address of its first owner. */
async function calledAs({ secrets, clock }: MailDeps, { brand, members, accountId }: OpenAccount) {
  if (brand.name) return brand.name;
  const [owner = accountId] = [...members].flatMap(([id, { role }]) => (role === "owner" ? id : []));
  return String((await secrets.get(emailSecret(owner), clock())) || accountId);
}

/**
 * What names the person is destroyed, after their memberships have ended. @throws last_owner, person_not_found, StoreUnavailable
 * while nobody knows what they are members of
 */
export async function removePersonEverywhere(
  deps: Deps & { accountsOf: AccountsOf },
  context: CommandContext,
  personId: string,
): Promise<Appended & { accounts: readonly string[] }> {
  if ((await deps.secrets.get(emailSecret(personId), deps.clock())) === undefined)
    throw new Refused("person_not_found");
  const accounts = await deps.accountsOf(personId, "all");
  for (const accountId of accounts) {
    const account = opened(await loadAccount(deps.eventStore, accountId));
    if (isLastOwner(account, account.members.get(personId)?.role))
      throw new Refused(
        "last_owner",
        `They are the last owner of account ${accountId}: make somebody else an owner first, or close the account`,
      );
  }
  for (const accountId of accounts) await endMembership(deps, context, accountId, personId);
  return { accounts, ...(await removePerson(deps, context, personId)) };
}

/** The address of an open invitation; undefined once it is over. */
export async function invitedAddress(deps: Pick<Deps, "secrets" | "clock">, invitationId: string) {
  return (await recordOf(deps, invitationId))?.email;
}

async function recordOf({ secrets, clock }: Pick<Deps, "secrets" | "clock">, invitationId: string) {
  return (await secrets.get(invitationSecret(invitationId), clock())) as InvitationRecord | undefined;
}
