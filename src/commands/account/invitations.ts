// Invitations to an account: sent, withdrawn, accepted. The address that somebody is invited by is in the secrets, with the
// SHA-256 of the link's token; the link alone lets nobody in: whoever accepts it has that address.
import { hash, randomBytes } from "node:crypto";
import type { Role } from "../../events/vocabulary.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import { type Appended, type CommandDeps, isNotAppended } from "../handle-command.ts";
import { invitationMail, type MailDeps } from "../mail/people-mails.ts";
import { registerPerson, removePerson } from "../people/change-person.ts";
import { acceptEmail, personWithEmail, provedEmail } from "../people/email.ts";
import { newPassword } from "../people/password.ts";
import { byPerson, writeForPerson } from "../people/person-stream.ts";
import { emailSecret, normalEmail, passwordSecret } from "../people/secrets.ts";
import { Refused } from "../refusals.ts";
import { type Invitation, opened } from "./account.ts";
import { changeAccount, loadAccount, onAccount } from "./account-stream.ts";
import { requireRight } from "./authority.ts";
import { endLateMembership } from "./change-members.ts";
import { accept, invite, openInvitations, withdraw } from "./decide-member.ts";

type Deps = CommandDeps & { secrets: Secrets };
type TellingDeps = CommandDeps & MailDeps;
type SecretDeps = Pick<Deps, "secrets" | "clock">;

/** The address that somebody is invited by, and the SHA-256 of the newest link's token. */
type InvitationRecord = { accountId: string; email: string; tokenHash: string; isMailed: boolean };

const invitationSecret = (invitationId: string) => `invitation/${invitationId}`;

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
  await forgetInvitation(deps, invitationId);
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
 * person_not_found, account_not_found, history_full
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
  const context = byPerson(requestId, personId);
  const join = () =>
    changeAccount(deps, context, accountId, (account, at) => accept(account, { invitationId, personId, at }));
  const leave = () => endLateMembership(deps, context, accountId, personId);
  const { position } = await writeForPerson(deps, personId, join, leave);
  await forgetInvitation(deps, invitationId);
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

/** The address of an open invitation; undefined once it is over. */
export async function invitedAddress(deps: SecretDeps, invitationId: string) {
  return (await recordOf(deps, invitationId))?.email;
}

/** Of an invitation that is over, or whose account is closed. */
export async function forgetInvitation(
  { secrets }: Pick<Deps, "secrets">,
  invitationId: string,
): Promise<void> {
  await secrets.delete(invitationSecret(invitationId));
}

async function recordOf({ secrets, clock }: SecretDeps, invitationId: string) {
  return (await secrets.get(invitationSecret(invitationId), clock())) as InvitationRecord | undefined;
}
