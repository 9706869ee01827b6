// What becomes of an account's members: another role, or removed, and told so by mail; and of who is removed everywhere.
import type { Role } from "../../events/vocabulary.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { type MailDeps, tellPerson } from "../mail/people-mails.ts";
import { removePerson } from "../people/change-person.ts";
import type { AccountsOf } from "../people/person-stream.ts";
import { emailSecret } from "../people/secrets.ts";
import { isRefused, Refused } from "../refusals.ts";
import { type Member, opened } from "./account.ts";
import { loadAccount, onAccount } from "./account-stream.ts";
import { isThemselves } from "./authority.ts";
import { changeRole, isLastOwner, remove } from "./decide-member.ts";

type TellingDeps = CommandDeps & MailDeps;
type Members = Iterable<[string, Member]>;
type SecretDeps = { secrets: Secrets; clock: () => Date };

/** `told`: resolves once the member was told by mail, where the service sends any. */
type MemberChanged = Appended & { told: Promise<void> };

/** @throws member_not_found, last_owner, not_permitted, role_too_high, account_not_found, history_full */
export async function changeMemberRole(
  deps: TellingDeps,
  context: CommandContext,
  accountId: string,
  personId: string,
  role: Role,
): Promise<MemberChanged> {
  const { events, state, position } = await onAccount(deps, context, accountId, (account, at, actor) =>
    changeRole(account, { personId, role, at }, actor),
  );
  const tell = async () => {
    if (events.length === 0 || isThemselves(context.actor, personId)) return;
    const account = await nameOfAccount(deps, opened(state));
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
  const { state, position } = await endMembership(deps, context, accountId, personId);
  const tell = async () => {
    if (isThemselves(context.actor, personId)) return;
    await tellPerson(deps, personId, { what: "removed", account: await nameOfAccount(deps, opened(state)) });
  };
  return { position, told: tell() };
}

function endMembership(deps: CommandDeps, context: CommandContext, accountId: string, personId: string) {
  return onAccount(deps, context, accountId, (account, at, actor) =>
    remove(account, { personId, at }, actor),
  );
}

/** Of who was removed while they joined: both sides end it, whichever is first. */
export async function endLateMembership(...membership: Parameters<typeof endMembership>): Promise<void> {
  await endMembership(...membership).catch((error: unknown) => {
    if (!isRefused(error, "member_not_found")) throw error;
  });
}

/** What members call the account: the name that it shows to visitors, else its owner's address. `members`: by person id. */
export async function nameOfAccount(
  deps: SecretDeps,
  {
    brand,
    members,
    accountId,
  }: { brand: { name?: string | null | undefined }; members: Members; accountId: string },
): Promise<string> {
  return brand.name ?? (await ownerAddress(deps, members)) ?? accountId;
}

/** The address of who has owned the account for the longest; undefined where they have none. */
export async function ownerAddress(
  { secrets, clock }: SecretDeps,
  members: Members,
): Promise<string | undefined> {
  const [owner] = [...members]
    .filter(([, { role }]) => role === "owner")
    .sort(([, a], [, b]) => a.joinedAt.localeCompare(b.joinedAt));
  const email = owner && (await secrets.get(emailSecret(owner[0]), clock()));
  return typeof email === "string" && email !== "" ? email : undefined;
}

/**
 * What names the person is destroyed, after their memberships have ended. @throws last_owner, person_not_found, StoreUnavailable
 * while nobody knows what they are members of
 */
export async function removePersonEverywhere(
  deps: CommandDeps & { secrets: Secrets; accountsOf: AccountsOf },
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
  const removed = await removePerson(deps, context, personId);
  // An invitation may have been accepted in between; later ones are refused.
  const joined = await deps.accountsOf(personId, "all");
  for (const accountId of joined) await endLateMembership(deps, context, accountId, personId);
  return { accounts: [...accounts, ...joined], ...removed };
}
