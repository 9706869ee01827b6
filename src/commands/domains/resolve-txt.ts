// TXT lookups for domain verification, through the servers of DNS_SERVERS or the system's resolver.
import { Resolver } from "node:dns/promises";

/** Rejects with a Node DNS error (`code` ENOTFOUND, ENODATA, ETIMEOUT ...) when there is no answer. */
export function txtResolver(servers: readonly string[]): (name: string) => Promise<string[][]> {
  const resolver = new Resolver({ timeout: 3000, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  return (name) => resolver.resolveTxt(name);
}
