// Which role an actor has in an account now, and with it which rights: members, and API keys by whom they are bounded. Pure.
import type { Role } from "../../events/vocabulary.ts";
import type { Actor } from "../../stores/event-store/port.ts";
import { may, type Right, ROLE_OF_ACCOUNT_KEYS } from "../people/rights.ts";
import { Refused } from "../refusals.ts";
import type { AccountKey, OpenAccount } from "./account.ts";

type Members = Pick<OpenAccount, "members" | "keys">;

/** The role that the actor has in the account at this time; undefined for who is no member, and for keys that are over. */
export function roleOf(account: Members, actor: Actor, at: string): Role | undefined {
  if (actor.type === "operator") return "owner";
  return actor.type === "system" ? undefined : roleById(account, actor.id, at);
}

/** `id`: of a person, or of an API key. */
export function roleById({ members, keys }: Members, id: string, at: string): Role | undefined {
  const key = keys.get(id);
  if (key === undefined) return members.get(id)?.role;
  return isActive(key, at) ? roleOfKey(key, (personId) => members.get(personId)?.role) : undefined;
}

/** `roleOfMember`: undefined for who is none. */
export function roleOfKey(
  { personId }: { personId?: string | undefined },
  roleOfMember: (personId: string) => Role | undefined,
): Role | undefined {
  return personId === undefined ? ROLE_OF_ACCOUNT_KEYS : roleOfMember(personId);
}

/** @throws not_permitted */
export function requireRight(account: Members, actor: Actor, right: Right, at: string): Role {
  const role = roleOf(account, actor, at);
  if (role !== undefined && may(role, right)) return role;
  throw new Refused("not_permitted");
}

/** Whether the actor is this person. */
export function isThemselves(actor: Actor, personId: string | undefined): boolean {
  return actor.type === "person" && actor.id === personId;
}

/** Neither deactivated nor expired at this time, ISO 8601 UTC. */
export function isActive(key: AccountKey | { status: "deactivated" }, at: string): key is AccountKey {
  return key.status === "active" && (key.expiresAt === undefined || key.expiresAt > at);
}
