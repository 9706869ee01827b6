// Which hostnames can be a custom domain, and the TXT record that proves whose one is.

import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { parse } from "tldts";
import { hostName } from "../../runtime/addresses/host-name.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import { Refused } from "../refusals.ts";

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Registrable names, as hostName reads them; no IP address, public suffix, or host of this service.
 * @throws invalid_hostname
 */
export function acceptHostname(text: string, baseHost: string): string {
  const hostname = hostName(text);
  const labels = hostname.split(".");
  if (isIP(hostname) || hostname.startsWith("["))
    throw invalidHostname("an IP address can't be a custom domain");
  if (!labels.every((label) => LABEL.test(label)))
    throw invalidHostname("please provide a host name such as go.example.com");
  if (labels.length < 2) throw invalidHostname("a host name has at least two parts");
  if (hostname === baseHost || baseHost.endsWith(`.${hostname}`))
    throw invalidHostname(`${hostname} belongs to this service`);
  if (parse(hostname, { allowPrivateDomains: true }).domain === null)
    throw invalidHostname(`${hostname} is a public suffix`);
  return hostname;
}

function invalidHostname(reason: string): Refused {
  return new Refused("invalid_hostname", `Invalid domain: ${reason}`);
}

export type TxtRecord = { type: "TXT"; name: string; value: string };

/** Under an underscored name, so that it can't clash with other TXT records (RFC 8552). */
export function txtRecord(hostname: string, token: string): TxtRecord {
  return { type: "TXT", name: `_linkledger.${hostname}`, value: token };
}

/**
 * TXT records of a name, each as its chunks. Rejects with a Node DNS error (`code` ENOTFOUND, ENODATA, ETIMEOUT ...) when
 * there is no answer.
 */
export type ResolveTxt = (name: string) => Promise<string[][]>;

/** Through the servers of DNS_SERVERS or the system's resolver. */
export function txtResolver(servers: readonly string[]): ResolveTxt {
  const resolver = new Resolver({ timeout: 3000, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  return (name) => resolver.resolveTxt(name);
}

/** `values`: all TXT values under the name. `reason`: a sentence for the owner. */
type TxtProof =
  | { is: "proven"; values: string[] }
  | { is: "missing" | "unreachable"; values: string[]; reason: string };

const NO_RECORD = new Set(["ENOTFOUND", "ENODATA"]);

/** Never rejects: a DNS failure is `unreachable`. */
export async function lookForProof(
  resolveTxt: ResolveTxt,
  hostname: string,
  token: string,
): Promise<TxtProof> {
  const { name } = txtRecord(hostname, token);
  let values: string[];
  try {
    values = (await resolveTxt(name)).map((chunks) => chunks.join("").trim());
  } catch (cause) {
    const code = String((cause as { code?: unknown }).code ?? "unknown error");
    if (NO_RECORD.has(code))
      return { is: "missing", values: [], reason: `DNS has no TXT record ${name} (${code})` };
    const reason = `The name servers could not be asked for ${name} (${code}); please try again later`;
    return { is: "unreachable", values: [], reason };
  }
  if (values.includes(token)) return { is: "proven", values };
  const shown = values.slice(0, 3).map((value) => `“${cutText(value, 80)}”`);
  return { is: "missing", values, reason: `The TXT record ${name} shows ${shown.join(", ")} instead` };
}
