// Custom domains: those of an account, those that are served, and the one that an operator means.

import { Refused } from "../commands/refusals.ts";
import { type DomainDocument, domains } from "../projections/definitions/domains.ts";
import { hostName } from "../runtime/addresses/host-name.ts";
import { allDocuments } from "../stores/read-store/document-pages.ts";
import type { FindQuery, ReadStore } from "../stores/read-store/port.ts";

type Deps = { readStore: ReadStore };

/** More than there are of one hostname: several accounts may have added it, one has it verified. */
const PAGE = 500;

/** The domains of an account, oldest first, without those that were removed. */
export async function listDomains({ readStore }: Deps, accountId: string): Promise<DomainDocument[]> {
  const sort = { field: "addedAt", direction: "asc" } as const;
  const query = { where: { accountId }, sort, limit: PAGE };
  return (await allDocuments<DomainDocument>(readStore, domains.collection.name, query)).filter(isPresent);
}

/**
 * The account's domain with this hostname, as hostName reads it, which other accounts may have added too.
 * @throws not_found also for a removed one
 */
export async function findOwnDomain(
  { readStore }: Deps,
  accountId: string,
  named: string,
): Promise<DomainDocument> {
  const domain = await readStore.get<DomainDocument>(
    domains.collection.name,
    `${accountId}/${hostName(named)}`,
  );
  if (!domain || !isPresent(domain)) throw new Refused("not_found", "Domain not found.");
  return domain;
}

/**
 * Those of a hostname (lower-case A-label form) that are verified and active: they are served and get certificates
 * (interface, part 3). More than one only while the document of a previous owner is not projected yet.
 */
export async function domainsInService(deps: Deps, hostname: string): Promise<DomainDocument[]> {
  return await findDomains(deps, { hostname, state: "verified", active: true });
}

/** Those with this id or hostname, of any account; removed ones only when no other has the id. */
export async function domainsNamed(deps: Deps, named: string): Promise<DomainDocument[]> {
  const byId = await findDomains(deps, { domainId: named });
  const present = byId.filter(isPresent);
  if (present.length > 0) return present;
  if (byId.length > 0) return byId.slice(0, 1);
  return (await findDomains(deps, { hostname: hostName(named) })).filter(isPresent);
}

/** Also those that were removed. */
export async function findDomains(
  { readStore }: Deps,
  where: NonNullable<FindQuery["where"]>,
): Promise<DomainDocument[]> {
  return await readStore.find<DomainDocument>(domains.collection.name, { where, limit: PAGE });
}

function isPresent({ state }: DomainDocument): boolean {
  return state !== "removed";
}

/** As the command line and the console's JSON answer it. */
export function domainRow(domain: DomainDocument) {
  const { domainId, hostname, state, active, addedAt, verifiedAt } = domain;
  return { domain_id: domainId, hostname, state, active, added_at: addedAt, verified_at: verifiedAt };
}
