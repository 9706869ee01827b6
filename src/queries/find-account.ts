// Whose account an operator means: by its e-mail address, its id, a key's id, a hostname or a link.
import { loadAccount } from "../commands/account/accounts.ts";
import { accountWithEmail } from "../commands/account/email.ts";
import { namedLink } from "../commands/links/change-link.ts";
import type { EventStore } from "../event-store/port.ts";
import { linkKey } from "../events/streams.ts";
import { type DomainDocument, domains } from "../projections/definitions/domains.ts";
import type { ReadStore } from "../read-store/port.ts";
import { isRefused, Refused } from "../runtime/refused.ts";
import type { Secrets } from "../secrets/port.ts";
import { findKey } from "./accounts.ts";
import { linkFromStream } from "./links/link-from-stream.ts";

export type FindAccountDeps = {
  readStore: ReadStore;
  eventStore: EventStore;
  secrets: Secrets;
  clock: () => Date;
  baseHost: string;
};

/** Accounts that added one hostname; only one of them can have verified it. */
const MOST_CANDIDATES = 100;

/**
 * The id of the account with this e-mail address or id, or of the one that has this key (by its id), hostname or link
 * (short URL, `host/slug` or slug). Finds closed accounts, but not by the address that closing erased.
 * @throws account_not_found
 */
export async function findAccount(deps: FindAccountDeps, given: string): Promise<string> {
  const text = given.trim();
  const found = text.includes("@")
    ? (await accountWithEmail(deps, text))?.accountId
    : ((await byId(deps, text)) ?? (await byHostname(deps, text)) ?? (await byLink(deps, text)));
  if (found === undefined) throw new Refused("account_not_found");
  return found;
}

async function byId(deps: FindAccountDeps, text: string): Promise<string | undefined> {
  const id = text.toLowerCase();
  if (!/^[\w-]{1,100}$/.test(id)) return undefined;
  if ((await loadAccount(deps.eventStore, id)).status !== "absent") return id;
  return (await findKey(deps, id))?.accountId;
}

/** Of an account that proved that the hostname is its own, else of the first that added it. */
async function byHostname({ readStore }: FindAccountDeps, text: string): Promise<string | undefined> {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url?.pathname !== "/") return undefined;
  const query = { where: { hostname: url.hostname }, limit: MOST_CANDIDATES };
  const added = (await readStore.find<DomainDocument>(domains.collection.name, query))
    .filter(({ state }) => state !== "removed")
    .sort((a, b) => (a.addedAt < b.addedAt ? -1 : 1));
  return (added.find(({ state }) => state === "verified") ?? added[0])?.accountId;
}

async function byLink({ eventStore, baseHost }: FindAccountDeps, text: string): Promise<string | undefined> {
  try {
    const { host, slug } = namedLink(text, baseHost);
    return (await linkFromStream(eventStore, linkKey(host, slug)))?.accountId;
  } catch (error) {
    if (isRefused(error, "invalid_link")) return undefined;
    throw error;
  }
}
