// Imports into the log of a test: an account, perhaps with a domain of its own, and the import of one file.
import { opened } from "../../../src/commands/account/account.ts";
import { loadAccount } from "../../../src/commands/account/account-stream.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { addDomain, verifyDomain } from "../../../src/commands/domains/change-domains.ts";
import type { ImportFormat } from "../../../src/transfer/import/imported.ts";
import type { ImportTarget } from "../../../src/transfer/import/place-imported.ts";
import type { Source } from "../../../src/transfer/import/reading/lines.ts";
import { type ImportReport, runImport } from "../../../src/transfer/import/run-import.ts";
import { type openCommandDeps, operator } from "../commands/command-deps.ts";

type Deps = Awaited<ReturnType<typeof openCommandDeps>>["deps"];

/** Beside the file of links, all to the base host. */
export type Given = Partial<Omit<Parameters<typeof runImport>[2], "format" | "links">> &
  Partial<Omit<ImportTarget, "account">>;

export async function imported(
  deps: Deps,
  accountId: string,
  format: ImportFormat,
  links: Source,
  { clicks, encoding, zone, ...given }: Given = {},
): Promise<ImportReport> {
  const account = opened(await loadAccount(deps.eventStore, accountId));
  const usual = { context: operator, domain: undefined, keyId: undefined, dryRun: false };
  return await runImport(deps, { account, ...usual, ...given }, { format, links, clicks, encoding, zone });
}

/** `hostname`: of its domain, verified. */
export async function newAccount(deps: Deps, hostname?: string) {
  const { accountId } = await openAccount(deps, operator, { email: "a@example.com", tier: "developer" });
  const domainId = hostname === undefined ? undefined : await ownDomain(deps, accountId, hostname);
  return { accountId, domainId };
}

export async function ownDomain(deps: Deps, accountId: string, hostname: string): Promise<string> {
  await addDomain(deps, operator, accountId, hostname);
  const noDns = { ...deps, resolveTxt: async () => [] };
  return (await verifyDomain(noDns, operator, accountId, hostname, { skipDns: true })).domainId;
}
