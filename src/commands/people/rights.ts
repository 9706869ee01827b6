// What each role of a member may do: the one table, from which routes, forms, keys, invitations and documents take it. Pure.
import { type KeyScope, ROLES, type Role } from "../../events/vocabulary.ts";

/** `means`: for people, after “may”. `roles`: those that have it. */
export const RIGHTS = {
  read: { means: "see links, numbers, history and exports", roles: ["owner", "admin", "editor", "viewer"] },
  edit: {
    means: "make and change links and tags, import, and have API keys of one's own",
    roles: ["owner", "admin", "editor"],
  },
  manage: {
    means: "change domains, webhooks, API keys of the account, and what visitors see",
    roles: ["owner", "admin"],
  },
  members: {
    means: "invite, change and remove members, up to one's own role",
    roles: ["owner", "admin"],
  },
  own: { means: "choose the plan and close the account", roles: ["owner"] },
} as const satisfies Readonly<Record<string, { means: string; roles: readonly Role[] }>>;

export type Right = keyof typeof RIGHTS;

/** What a request with a key needs of whoever the key is bounded by, by the scope that its route wants. */
export const RIGHT_OF_SCOPE: Readonly<Record<KeyScope, Right>> = {
  "links:read": "read",
  "links:write": "edit",
  "analytics:read": "read",
  "analytics:share": "manage",
  "events:read": "read",
  members: "members",
};

/** Keys of the account are made by admins, and outlive who made them. */
export const ROLE_OF_ACCOUNT_KEYS = "admin" satisfies Role;

export function may(role: Role, right: Right): boolean {
  return (RIGHTS[right].roles as readonly Role[]).includes(role);
}

/** Whether the role is at most the other one. */
export function isWithin(role: Role, most: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(most);
}
