// linkledger domain add | verify | activate | deactivate | remove | list
import type { Command } from "commander";
import { addDomain } from "../commands/domains/add-domain.ts";
import { activateDomain, deactivateDomain } from "../commands/domains/domain-activation.ts";
import { DomainNotFound } from "../commands/domains/domain-errors.ts";
import { removeDomain } from "../commands/domains/remove-domain.ts";
import { verifyDomain } from "../commands/domains/verify-domain.ts";
import type { DomainDocument } from "../projections/definitions/domains.ts";
import { domainRow } from "../queries/account-rows.ts";
import { findDomain, listDomains, showAccount } from "../queries/accounts.ts";
import { type Json, runCommand, runQuery, type Session } from "./session.ts";

type OfAccount = Json & { account: string };

export function domainCommands(program: Command): void {
  const domain = program.command("domain").description("custom domains");

  domain
    .command("add")
    .description("add a custom domain and show the TXT record that proves it")
    .argument("<hostname>")
    .requiredOption("--account <account-id>")
    .option("--json", "print one JSON document")
    .action((given: string, options: OfAccount) =>
      runCommand(options, async ({ deps, context }) => {
        const { hostname, record } = await addDomain(deps, context, options.account, given);
        return { hostname, record };
      }),
    );

  domain
    .command("verify")
    .description("verify a domain by its TXT record")
    .argument("<hostname>")
    .requiredOption("--account <account-id>")
    .option("--skip-dns", "do not ask DNS: the operator vouches for the ownership")
    .option("--json", "print one JSON document")
    .action((given: string, options: OfAccount & { skipDns?: boolean }) =>
      runCommand(options, async ({ deps, context }) => {
        const { skipDns } = options;
        const { domainId, hostname } = await verifyDomain(deps, context, options.account, given, { skipDns });
        return { domain_id: domainId, hostname, state: "verified" };
      }),
    );

  change(
    domain,
    ["activate", "serve a verified domain and its links again", "active"],
    ({ deps, context }, { accountId, domainId }) => activateDomain(deps, context, accountId, domainId),
  );
  change(
    domain,
    ["deactivate", "stop serving a domain: its links answer 404 until it is active again", "inactive"],
    ({ deps, context }, { accountId, domainId }) => deactivateDomain(deps, context, accountId, domainId),
  );
  change(
    domain,
    ["remove", "remove a domain from its account and release its host name", "removed"],
    ({ deps, context }, { accountId, hostname }) => removeDomain(deps, context, accountId, hostname),
  );

  domain
    .command("list")
    .description("the domains of an account")
    .requiredOption("--account <account-id>")
    .option("--json", "print one JSON document")
    .action((options: OfAccount) =>
      runQuery(options, async ({ deps }) => {
        await showAccount(deps, options.account);
        return { domains: (await listDomains(deps, options.account)).map(domainRow) };
      }),
    );
}

function change(
  domain: Command,
  [name, description, state]: [name: string, description: string, state: string],
  make: (session: Session, found: DomainDocument & { domainId: string }) => Promise<unknown>,
): void {
  domain
    .command(name)
    .description(description)
    .argument("<domain-id>")
    .option("--json", "print one JSON document")
    .action((domainId: string, options: Json) =>
      runCommand(options, async (session) => {
        const found = await findDomain(session.deps, domainId);
        if (!found) throw new DomainNotFound();
        await make(session, { ...found, domainId });
        return { domain_id: domainId, hostname: found.hostname, state };
      }),
    );
}
