// Changes what a link carries, beside the service, as its owner would through another process.
import type { Backend } from "../../../src/backend.ts";
import { currentAccounts } from "../../../src/commands/account/accounts.ts";
import { changeLink } from "../../../src/commands/links/change-link.ts";
import { slugDerivation } from "../../../src/commands/links/derived-identity.ts";
import type { LinkFields } from "../../../src/commands/links/link-fields.ts";
import { recheckLater } from "../../../src/commands/links/url-safety.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { callerOf, operator } from "./command-deps.ts";

/** Of a link on `localhost`. */
export async function changeFields(
  { eventStore, secrets }: Pick<Backend, "eventStore" | "secrets">,
  accountId: string,
  slug: string,
  patch: LinkFields,
): Promise<void> {
  const deps = {
    ...runtimeDeps,
    ...{ eventStore, secrets, baseUrl: "http://localhost", baseHost: "localhost" },
    currentAccount: currentAccounts(eventStore).current,
    derivedSlug: slugDerivation("0123456789abcdef0123456789abcdef"),
    urlSafety: async (urls: readonly URL[]) => urls.map(() => "safe" as const),
    linkLookups: { withExternalId: async () => [], withFingerprint: async () => [] },
    recheckLater: recheckLater({ secrets, clock: runtimeDeps.clock }),
  };
  const address = { host: "localhost", slug };
  await changeLink(deps, operator, callerOf(accountId, "developer"), address, { type: "patch", patch });
}
