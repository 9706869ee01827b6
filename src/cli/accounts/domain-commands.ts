// linkledger domain add | verify | activate | deactivate | remove | list
import {
  activateDomain,
  addDomain,
  deactivateDomain,
  removeDomain,
  verifyDomain,
} from "../../commands/domains/domains.ts";
import { domainRow } from "../../queries/account-rows.ts";
import { listDomains } from "../../queries/accounts.ts";
import { Refused } from "../../runtime/refused.ts";
import { type CommandRow, option, required } from "../command.ts";
import { ACCOUNT, accountNamed, DOMAIN, domainNamed } from "../named.ts";
import { runQuery } from "../session.ts";

type OfAccount = { account: string };

const ofAccount = required("--account <account>", ACCOUNT);
const print = ({ hostname, state }: { hostname: string; state: string }) => `${hostname} is ${state}`;

export const domainCommands: readonly CommandRow[] = [
  {
    name: "add <hostname>",
    about: "add a custom domain and show the TXT record that proves it",
    options: [ofAccount],
    async run(session, { account }: OfAccount, given: string) {
      const { deps, context } = session;
      const { hostname, record } = await addDomain(
        deps,
        context,
        await accountNamed(session, account),
        given,
      );
      return { hostname, record };
    },
  },
  {
    name: "verify <hostname>",
    about: "verify a domain by its TXT record",
    options: [ofAccount, option("--skip-dns", "do not ask DNS: the operator vouches for the ownership")],
    async run(session, { account, skipDns }: OfAccount & { skipDns?: boolean }, given: string) {
      const { deps, context } = session;
      const accountId = await accountNamed(session, account);
      const { domainId, hostname } = await verifyDomain(deps, context, accountId, given, { skipDns });
      return { domain_id: domainId, hostname, state: "verified" };
    },
    print,
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
    async run(session, _: object, given: string) {
      const { domainId, accountId, hostname } = await domainNamed(session, given);
      await removeDomain(session.deps, session.context, accountId, hostname);
      return { domain_id: domainId, hostname, state: "removed" };
    },
    print,
  },
  {
    name: "list",
    about: "the domains of an account",
    options: [ofAccount],
    by: runQuery,
    async run(session, { account }: OfAccount) {
      const found = await listDomains(session.deps, await accountNamed(session, account));
      return { domains: found.map(domainRow) };
    },
  },
];

function changing(name: string, about: string, state: string, change: typeof activateDomain): CommandRow {
  return {
    name: `${name} <domain>`,
    about,
    args: { domain: DOMAIN },
    async run(session, _: object, given: string) {
      const { domainId, accountId, hostname } = await domainNamed(session, given);
      // Verifying gives it one.
      if (domainId === null) throw new Refused("domain_not_found");
      await change(session.deps, session.context, accountId, domainId);
      return { domain_id: domainId, hostname, state };
    },
    print,
  };
}
