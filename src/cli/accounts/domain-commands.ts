// linkledger domain add | verify | activate | deactivate | remove | list
import {
  activateDomain,
  addDomain,
  deactivateDomain,
  removeDomain,
  verifyDomain,
} from "../../commands/domains/change-domains.ts";
import { Refused } from "../../commands/refusals.ts";
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import { domainRow, listDomains } from "../../queries/domains.ts";
import { type CommandRow, option } from "../command.ts";
import { DOMAIN } from "../named.ts";
import { asQuery } from "../session.ts";

type OfAccount = { account: string };

export const commands: readonly CommandRow[] = [
  {
    name: "add <hostname>",
    about: "add a custom domain and show the TXT record that proves it",
    byAccount: true,
    async run({ deps, context }, { account }: OfAccount, name: string) {
      const { hostname, record } = await addDomain(deps, context, account, name);
      return { hostname, record };
    },
  },
  {
    name: "verify <hostname>",
    about: "verify a domain by its TXT record",
    byAccount: true,
    options: [option("--skip-dns", "do not ask DNS: the operator vouches for the ownership")],
    async run({ deps, context }, options: OfAccount & { skipDns?: boolean }, name: string) {
      const { domainId, hostname } = await verifyDomain(deps, context, options.account, name, options);
      return { domain_id: domainId, hostname, state: "verified" };
    },
  },
  changing("activate", "serve a verified domain and its links again", "active", activateDomain),
  changing(
    "deactivate",
    "stop serving a domain: its links answer 404 until it is active again",
    "inactive",
    deactivateDomain,
  ),
  {
    name: "remove <domain>",
    about: "remove a domain from its account and release its host name",
    args: { domain: DOMAIN },
    async run({ deps, context }, _: object, { domainId, accountId, hostname }: DomainDocument) {
      await removeDomain(deps, context, accountId, hostname);
      return { domain_id: domainId, hostname, state: "removed" };
    },
  },
  {
    name: "list",
    about: "the domains of an account",
    byAccount: true,
    by: asQuery,
    async run({ deps }, { account }: OfAccount) {
      return { domains: (await listDomains(deps, account)).map(domainRow) };
    },
  },
];

function changing(name: string, about: string, state: string, change: typeof activateDomain): CommandRow {
  return {
    name: `${name} <domain>`,
    about,
    args: { domain: DOMAIN },
    async run({ deps, context }, _: object, { domainId, accountId, hostname }: DomainDocument) {
      // Verifying gives it one.
      if (domainId === null) throw new Refused("domain_not_found");
      await change(deps, context, accountId, domainId);
      return { domain_id: domainId, hostname, state };
    },
  };
}
