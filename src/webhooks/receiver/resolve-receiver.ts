// Resolves receiver names with c-ares instead of getaddrinfo: a name server that does not answer would block libuv's
// few pool threads, which file access and password hashing share.
import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { Refused } from "../../commands/refusals.ts";
import { isLocalName } from "./receiver-url.ts";

/** All addresses of a name, at least one. @throws Refused (`dns_failed`) */
export type ResolveReceiver = (name: string) => Promise<LookupAddress[]>;

const HOSTS_FILE = "/etc/hosts";

/**
 * `dnsServers` empty: the hosts file, read once here, then the system's name servers; otherwise only those servers.
 * Search domains are not applied: a webhook's host must be fully qualified.
 */
export function receiverResolver(dnsServers: readonly string[], hostsFile = HOSTS_FILE): ResolveReceiver {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (dnsServers.length > 0) resolver.setServers(dnsServers);
  const hosts = dnsServers.length > 0 ? new Map<string, LookupAddress[]>() : readHosts(hostsFile);
  return async (name) => {
    if (isLocalName(name)) return [{ address: "127.0.0.1", family: 4 }];
    const fromHosts = hosts.get(name.replace(/\.$/, "").toLowerCase());
    return fromHosts ?? addressesOf(resolver, name);
  };
}

async function addressesOf(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const resolved = [...addresses(v4, 4), ...addresses(v6, 6)];
  if (resolved.length > 0) return resolved;
  throw new Refused("dns_failed", `${name} ${noAddress([v4, v6])}`);
}

function addresses(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === "fulfilled" ? answer.value.map((address) => ({ address, family })) : [];
}

function noAddress(answers: readonly PromiseSettledResult<string[]>[]): string {
  const codes = answers.map((answer) =>
    answer.status === "rejected" ? String(answer.reason.code) : "ENODATA",
  );
  const failure = codes.find((code) => code !== "ENODATA" && code !== "ENOTFOUND");
  if (failure === undefined)
    return codes.includes("ENODATA") ? "has no address in the DNS" : "does not exist in the DNS";
  if (failure === "ETIMEOUT") return "could not be resolved: its name servers did not answer in time";
  return `could not be resolved (${failure})`;
}

function readHosts(file: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of textOf(file).split("\n")) {
    const [address = "", ...names] = line.replace(/#.*$/, "").trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      hosts.set(key, [...(hosts.get(key) ?? []), { address, family }]);
    }
  }
  return hosts;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
