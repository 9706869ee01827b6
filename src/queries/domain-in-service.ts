// Which custom domains a hostname stands for right now: verified, active, and so served and given certificates.
import { type AccountDocument, accounts } from "../projections/definitions/accounts.ts";
import { type DomainDocument, domains } from "../projections/definitions/domains.ts";
import type { ReadStore } from "../read-store/port.ts";

type Deps = { readStore: ReadStore };

/** A hostname may have been added by several accounts, and served several one after the other. */
const MOST_DOCUMENTS = 100;

/** `hostname`: lower-case A-label form. Undefined when nobody has it verified and active (interface, part 3). */
export async function domainInService(deps: Deps, hostname: string): Promise<DomainDocument | undefined> {
  const [found] = await domainsInService(deps, hostname);
  return found;
}

/** More than one only while the documents of an owner before the present one are behind. */
export async function domainsInService({ readStore }: Deps, hostname: string): Promise<DomainDocument[]> {
  const where = { hostname, state: "verified", active: true } as const;
  const found = await readStore.find<DomainDocument>(domains.collection.name, {
    where,
    limit: MOST_DOCUMENTS,
  });
  const owners = found.map(({ accountId }) => accountId);
  const known = await readStore.getMany<AccountDocument>(accounts.collection.name, owners);
  // Closing ends an account's domains by itself, also one that an earlier version let it add meanwhile.
  const closed = new Set(known.filter(({ status }) => status === "closed").map(({ _id }) => _id));
  return found.filter(({ accountId }) => !closed.has(accountId));
}
