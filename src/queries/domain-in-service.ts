// The one custom domain that a hostname stands for right now: verified, active, and so served and given certificates.
import { type DomainDocument, domains } from "../projections/domains.ts";
import type { ReadStore } from "../read-store/port.ts";

/** `hostname`: lower-case A-label form. Undefined when nobody has it verified and active (interface, part 3). */
export async function domainInService(
  { readStore }: { readStore: ReadStore },
  hostname: string,
): Promise<DomainDocument | undefined> {
  const where = { hostname, state: "verified", active: true } as const;
  const [found] = await readStore.find<DomainDocument>(domains.collection.name, { where, limit: 1 });
  return found;
}
