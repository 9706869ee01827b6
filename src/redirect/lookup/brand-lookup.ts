// How the pages of a link's account look, read where a page is shown: no redirect waits for it.
import { LRUCache } from "lru-cache";
import type { Brand } from "../../commands/account/account.ts";
import { type BrandDocument, brands } from "../../projections/definitions/brands.ts";
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import { domainsInService } from "../../queries/domains.ts";
import { orUndefined } from "../../stores/connections/errors.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { DomainRouting } from "./domain-routing.ts";

/** Undefined where nothing is chosen, and while documents are unavailable: the page is then nobody's. */
export type BrandLookup = {
  ofAccount(accountId: string): Promise<Brand | undefined>;
  /** Of the account that the custom domain serves. */
  ofHost(host: string): Promise<Brand | undefined>;
};

/** Short, as no event ends it: a flood of unknown slugs reads once in this time. */
const KEPT_MS = 2_000;
const MOST_KEPT = 1_000;
const FIELDS = ["name", "colour", "fallbackUrl"];

export function brandLookup(deps: {
  readStore: ReadStore;
  domains: Pick<DomainRouting, "serves">;
}): BrandLookup {
  const cache = new LRUCache<string, Promise<Brand | undefined>>({ max: MOST_KEPT, ttl: KEPT_MS });
  const cached = (key: string, read: () => Promise<Brand | undefined>) => {
    const brand = cache.get(key) ?? orUndefined(read());
    if (!cache.has(key)) cache.set(key, brand);
    return brand;
  };

  async function read(accountId: string): Promise<Brand | undefined> {
    const [brand] = await deps.readStore.getMany<BrandDocument>(brands.collection.name, [accountId], FIELDS);
    if (!brand) return undefined;
    const { name, colour, fallbackUrl } = brand;
    return { name: name ?? undefined, colour: colour ?? undefined, fallbackUrl: fallbackUrl ?? undefined };
  }

  const ofAccount = (accountId: string) => cached(`account ${accountId}`, () => read(accountId));
  return {
    ofAccount,
    ofHost: (host) =>
      cached(`host ${host}`, async () => {
        const domain = await servedDomain(deps, host);
        return domain && (await ofAccount(domain.accountId));
      }),
  };
}

/** The document may lag behind the log, so DomainRouting confirms that the domain is still in service. */
export async function servedDomain(
  deps: { readStore: ReadStore; domains: Pick<DomainRouting, "serves"> },
  hostname: string,
): Promise<DomainDocument | undefined> {
  if (hostname === "") return undefined;
  for (const domain of await domainsInService(deps, hostname))
    if (await deps.domains.serves(domain.accountId, hostname)) return domain;
  return undefined;
}
