// Accounts, keys and domains for the command line and the portal.
import { keyUseSecret } from "../commands/account/secrets.ts";
import { type AccountDocument, accounts } from "../projections/definitions/accounts.ts";
import { type DomainDocument, domains } from "../projections/definitions/domains.ts";
import { type KeyDocument, keys } from "../projections/definitions/keys.ts";
import { allDocuments } from "../read-store/document-pages.ts";
import type { Document, FindQuery, ReadStore } from "../read-store/port.ts";
import { Refused } from "../runtime/refused.ts";
import type { Secrets } from "../secrets/port.ts";

type Deps = { readStore: ReadStore };

const PAGE = 500;

/** All accounts, oldest first. */
export async function listAccounts({ readStore }: Deps): Promise<AccountDocument[]> {
  return await all<AccountDocument>(readStore, accounts.collection.name, {}, "openedAt");
}

/** @throws not_found */
export async function showAccount(deps: Deps, accountId: string) {
  const account = await deps.readStore.get<AccountDocument>(accounts.collection.name, accountId);
  if (!account) throw new Refused("not_found", `Account ${accountId} not found.`);
  return { account, keys: await listKeys(deps, accountId), domains: await listDomains(deps, accountId) };
}

/** All keys of an account, deactivated ones too, oldest first. */
export async function listKeys({ readStore }: Deps, accountId: string): Promise<KeyDocument[]> {
  return await all<KeyDocument>(readStore, keys.collection.name, { accountId }, "issuedAt");
}

export async function findKey({ readStore }: Deps, keyId: string): Promise<KeyDocument | undefined> {
  return await readStore.get<KeyDocument>(keys.collection.name, keyId);
}

/** When the key was last used: ISO 8601, to the minute; undefined when that was over a year ago, or never. */
export async function lastUseOf(
  { secrets, clock }: { secrets: Secrets; clock: () => Date },
  keyId: string,
): Promise<string | undefined> {
  const at = await secrets.get(keyUseSecret(keyId), clock());
  return typeof at === "string" ? at : undefined;
}

/** Those with this id or hostname, of any account; removed ones only when no other has the id. */
export async function domainsNamed({ readStore }: Deps, given: string): Promise<DomainDocument[]> {
  const find = (where: NonNullable<FindQuery["where"]>) =>
    readStore.find<DomainDocument>(domains.collection.name, { where, limit: PAGE });
  const isPresent = ({ state }: DomainDocument) => state !== "removed";
  const byId = await find({ domainId: given });
  const present = byId.filter(isPresent);
  if (present.length > 0) return present;
  if (byId.length > 0) return byId.slice(0, 1);
  const hostname = URL.parse(given.includes("://") ? given : `http://${given}`)?.hostname ?? given;
  return (await find({ hostname })).filter(isPresent);
}

/**
 * The account's domain with this hostname, which other accounts may have added too.
 * @throws not_found also for a removed one
 */
export async function findOwnDomain(
  { readStore }: Deps,
  accountId: string,
  hostname: string,
): Promise<DomainDocument> {
  const found = await readStore.get<DomainDocument>(domains.collection.name, `${accountId}/${hostname}`);
  if (!found || found.state === "removed") throw new Refused("not_found", "Domain not found.");
  return found;
}

/** The domains of an account, oldest first, without those that were removed. */
export async function listDomains({ readStore }: Deps, accountId: string): Promise<DomainDocument[]> {
  const found = await all<DomainDocument>(readStore, domains.collection.name, { accountId }, "addedAt");
  return found.filter(({ state }) => state !== "removed");
}

async function all<D extends Document>(
  readStore: ReadStore,
  collection: string,
  where: NonNullable<FindQuery["where"]>,
  field: string,
): Promise<D[]> {
  const sort = { field, direction: "asc" } as const;
  return await allDocuments<D>(readStore, collection, { where, sort, limit: PAGE });
}
