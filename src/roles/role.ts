// What a process may do for the service (DESIGN §6): any number of processes, each with any of these roles.

export const ROLES = ["redirect", "api", "portal", "projector", "webhooks"] as const;
export type Role = (typeof ROLES)[number];
export type Roles = ReadonlySet<Role>;

export const ALL_ROLES: Roles = new Set(ROLES);

/** Comma separated. @throws RangeError that names the first unknown role, or says that there is none */
export function rolesFrom(list: string): Roles {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const unknown = names.find((name) => !(ROLES as readonly string[]).includes(name));
  if (unknown !== undefined) throw new RangeError(`There is no role "${unknown}": use ${ROLES.join(", ")}`);
  if (names.length === 0) throw new RangeError(`At least one role is needed: ${ROLES.join(", ")}`);
  return new Set(names as Role[]);
}
