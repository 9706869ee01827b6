// Finds the verified and active domains of a hostname, which are served and get certificates.
import { type DomainDocument, domains } from "../projections/definitions/domains.ts";
import type { ReadStore } from "../read-store/port.ts";

type Deps = { readStore: ReadStore };

/** Several accounts may have a document for one hostname, but at most one is in service at a time. */
const MOST_DOCUMENTS = 100;

/** `hostname`: lower-case A-label form. Undefined when no account has it verified and active (interface, part 3). */
export async function domainInService(deps: Deps, hostname: string): Promise<DomainDocument | undefined> {
  const [found] = await domainsInService(deps, hostname);
  return found;
}

/** More than one only while the document of a previous owner is not projected yet. */
export async function domainsInService({ readStore }: Deps, hostname: string): Promise<DomainDocument[]> {
  const where = { hostname, state: "verified", active: true } as const;
  return await readStore.find<DomainDocument>(domains.collection.name, { where, limit: MOST_DOCUMENTS });
}
