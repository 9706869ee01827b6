// The roles of a process: there may be any number of processes, each with any of them.
import { commaSeparated } from "../../config/formats.ts";

export const PROCESS_ROLES = ["redirect", "api", "portal", "projector", "webhooks"] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];
export type Roles = ReadonlySet<ProcessRole>;

export const ALL_ROLES: Roles = new Set(PROCESS_ROLES);

/** Roles that answer no request and work in one process at a time. */
export const BACKGROUND_ROLES: Roles = new Set(["projector", "webhooks"] as const);

/** Whether a process with these roles has anything to answer. */
export function answersHttp(roles: Roles): boolean {
  return !roles.isSubsetOf(BACKGROUND_ROLES);
}

/** Parses a comma-separated list. @throws RangeError for an unknown role or an empty list */
export function rolesFrom(list: string): Roles {
  const names = commaSeparated(list);
  const unknown = names.find((name) => !(PROCESS_ROLES as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new RangeError(`There is no role "${unknown}": use ${PROCESS_ROLES.join(", ")}`);
  if (names.length === 0) throw new RangeError(`At least one role is needed: ${PROCESS_ROLES.join(", ")}`);
  return new Set(names as ProcessRole[]);
}
