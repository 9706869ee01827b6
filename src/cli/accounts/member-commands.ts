// linkledger member list | invite | role | remove
import { Argument } from "commander";
import { opened } from "../../commands/account/account.ts";
import { loadAccount } from "../../commands/account/account-stream.ts";
import { ROLES, type Role } from "../../events/vocabulary.ts";
import { memberRows } from "../../queries/people.ts";
import { type CommandRow, required } from "../command.ts";
import { PERSON } from "../named.ts";
import { asQuery } from "../session.ts";

const ROLE = new Argument("<role>", "what they may do: docs/people.md").choices(ROLES);

export const commands: readonly CommandRow[] = [
  {
    name: "list",
    about: "the members of an account, and its open invitations",
    byAccount: true,
    by: asQuery,
    async run({ deps }, { account }: { account: string }) {
      return await memberRows(deps, opened(await loadAccount(deps.eventStore, account)));
    },
  },
  {
    name: "invite <email>",
    about: "invite somebody to an account, for a week: by mail, or where none is sent by a link to hand over",
    byAccount: true,
    args: { email: "the address that they sign in with" },
    options: [required("--role <role>", "what they may do").choices(ROLES)],
    async run({ deps, context }, { account, role }: { account: string; role: Role }, address: string) {
      const { inviteMember } = await import("../../commands/account/invitations.ts");
      const invited = await inviteMember(deps, context, account, { email: address, role });
      const { invitationId, email, link, expiresAt } = invited;
      return { invitation_id: invitationId, email, role, link, expires_at: expiresAt };
    },
  },
  {
    name: "role <person> <role>",
    about: "give a member of an account another role",
    byAccount: true,
    args: { person: PERSON, role: ROLE },
    async run({ deps, context }, { account }: { account: string }, personId: string, role: Role) {
      const { changeMemberRole } = await import("../../commands/account/change-members.ts");
      const { told } = await changeMemberRole(deps, context, account, personId, role);
      await told;
      return { account_id: account, person_id: personId, role };
    },
  },
  {
    name: "remove <person>",
    about: "end a membership, and the member's own keys with it",
    byAccount: true,
    args: { person: PERSON },
    async run({ deps, context }, { account }: { account: string }, personId: string) {
      const { removeMember } = await import("../../commands/account/change-members.ts");
      const { told } = await removeMember(deps, context, account, personId);
      await told;
      return { account_id: account, person_id: personId, status: "removed" };
    },
  },
];
