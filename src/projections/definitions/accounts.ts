// Accounts with tier, status and members, for authentication, the portal and the command line.
import type { Role, Tier } from "../../events/vocabulary.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** Times: ISO 8601 UTC. `invitedBy`: person or API key; absent for the operator. */
type InvitationFields = { role: Role; at: string; expiresAt: string; invitedBy?: string | undefined };

/**
 * `_id`: accountId. `timeZone`: IANA name, null until one is chosen. `members`: by person id; `invitations`: by id, those that
 * are open or have expired.
 */
export type AccountDocument = Document & {
  tier: Tier;
  status: "open" | "closed";
  openedAt: string;
  timeZone: string | null;
  members: Record<string, { role: Role; joinedAt: string }>;
  invitations: Record<string, InvitationFields>;
};

const HANDLED = [
  "AccountOpened",
  "TierChanged",
  "TimeZoneChosen",
  "MemberInvited",
  "InvitationWithdrawn",
  "MemberJoined",
  "MemberRoleChanged",
  "MemberRemoved",
  "AccountClosed",
] as const;

export const accounts: Projection<AccountDocument, (typeof HANDLED)[number]> = {
  collection: { name: "accounts", indexes: [["openedAt"]] },
  handles: HANDLED,
  key: ({ data }) => data.accountId,
  empty: (event) => ({
    tier: "free",
    status: "open",
    openedAt: event.data.at,
    timeZone: null,
    members: {},
    invitations: {},
  }),
  evolve(account, event) {
    switch (event.type) {
      case "AccountOpened": {
        const { accountId, tier, ownerId = accountId, at } = event.data;
        const members = { [ownerId]: { role: "owner", joinedAt: at } as const };
        return { tier, status: "open", openedAt: at, timeZone: null, members, invitations: {} };
      }
      case "TierChanged":
        return { ...account, tier: event.data.to };
      case "TimeZoneChosen":
        return { ...account, timeZone: event.data.timeZone };
      case "MemberInvited": {
        const { invitationId, role, at, expiresAt, invitedBy } = event.data;
        account.invitations[invitationId] = { role, at, expiresAt, ...(invitedBy && { invitedBy }) };
        return account;
      }
      case "InvitationWithdrawn":
        delete account.invitations[event.data.invitationId];
        return account;
      case "MemberJoined": {
        const { personId, role, at, invitationId } = event.data;
        if (invitationId !== undefined) delete account.invitations[invitationId];
        account.members[personId] = { role, joinedAt: at };
        return account;
      }
      case "MemberRoleChanged": {
        const member = account.members[event.data.personId];
        if (member) member.role = event.data.to;
        return account;
      }
      case "MemberRemoved":
        delete account.members[event.data.personId];
        return account;
      case "AccountClosed":
        return { ...account, status: "closed" };
    }
  },
};
