// Checks the TXT record of each verified domain once a day.

import type { CommandContext } from "../../commands/caller.ts";
import { recheckDomain } from "../../commands/domains/change-domains.ts";
import type { ResolveTxt } from "../../commands/domains/hostname.ts";
import type { CommandDeps } from "../../commands/handle-command.ts";
import { isEventError } from "../../events/read-event.ts";
import { type DomainDocument, domains } from "../../projections/definitions/domains.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";

type DomainChecksDeps = CommandDeps & {
  readStore: ReadStore;
  secrets: Secrets;
  resolveTxt: ResolveTxt;
  log: Pick<BasicLogger, "info" | "warn">;
};

type ProvenDomain = DomainDocument & { domainId: string };

const RECHECK_EVERY_MS = 86_400_000;
const PAGE = 200;

/** Checks every domain whose last conclusive check is a day old or older. Returns the number of checks. */
export async function checkDueDomains(deps: DomainChecksDeps, signal: AbortSignal): Promise<number> {
  let checked = 0;
  for await (const domain of provenDomains(deps.readStore)) {
    if (signal.aborted) return checked;
    if (!(await isDue(deps, domain))) continue;
    try {
      await checkOne(deps, domain);
      checked += 1;
    } catch (err) {
      if (!isEventError(err)) throw err;
      deps.log.warn({ err, hostname: domain.hostname }, "a domain can't be checked");
    }
  }
  return checked;
}

async function* provenDomains(readStore: ReadStore): AsyncGenerator<ProvenDomain> {
  const where = { state: "verified", proven: "dns" } as const;
  const query = { where, limit: PAGE };
  for await (const page of documentPages<DomainDocument>(readStore, domains.collection.name, query))
    for (const domain of page) if (domain.domainId !== null) yield { ...domain, domainId: domain.domainId };
}

/** The last check is noted as an expiring secret and not as an event, as it is no fact about the domain. */
async function isDue(
  { secrets, clock }: DomainChecksDeps,
  { domainId, verifiedAt }: ProvenDomain,
): Promise<boolean> {
  const now = clock();
  if (now.getTime() - Date.parse(verifiedAt ?? "") < RECHECK_EVERY_MS) return false;
  return (await secrets.get(checkKey(domainId), now)) === undefined;
}

async function checkOne(deps: DomainChecksDeps, domain: ProvenDomain): Promise<void> {
  const { accountId, hostname, domainId } = domain;
  const context: CommandContext = {
    requestId: `domain-check-${deps.newId()}`,
    actor: { type: "system", id: "domain-check" },
  };
  const { record, position } = await recheckDomain(deps, context, accountId, domainId);
  if (position !== undefined || record === "unknown")
    deps.log.info({ hostname, record }, "checked a domain's TXT record");
  if (record === "unknown") return;
  const expiresAt = new Date(deps.clock().getTime() + RECHECK_EVERY_MS).toISOString();
  await deps.secrets.put(checkKey(domainId), { value: { record }, expiresAt });
}

function checkKey(domainId: string): string {
  return `domain-check:${domainId}`;
}
