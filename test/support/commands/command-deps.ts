// Real stores in a temporary folder and the production deps of commands, for tests that append.

import { currentAccounts } from "../../../src/commands/account/account-stream.ts";
import type { Caller, CommandContext } from "../../../src/commands/caller.ts";
import { slugDerivation } from "../../../src/commands/links/derived-identity.ts";
import { recheckLater } from "../../../src/commands/links/url-safety.ts";
import { passwordWork } from "../../../src/commands/password-work.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import type { Tier } from "../../../src/events/vocabulary.ts";
import { lifecycle } from "../../../src/projections/groups.ts";
import { linksWithFingerprint } from "../../../src/queries/links/links-with-fingerprint.ts";
import { accountsOf } from "../../../src/queries/people.ts";
import { openBackend } from "../../../src/service/stores/backend.ts";
import type { Secrets } from "../../../src/stores/secrets/port.ts";
import { foldGroups } from "../projections/fold-groups.ts";
import { temporaryFolder } from "../runtime/temporary-folder.ts";

export const operator: CommandContext = { requestId: "test-request", actor: { type: "operator" } };

/** `catchUp`: projects accounts, keys, domains, webhooks and links. */
export async function openCommandDeps() {
  const folder = await temporaryFolder();
  const backend = await openBackend({ dataDir: folder.path });
  const secrets: Secrets = backend.secrets;
  const { eventStore, foldStore, readStore } = backend;
  const catchUp = () => foldGroups({ eventStore, readStore: foldStore }, [lifecycle]);
  const deps = {
    ...runtimeDeps,
    eventStore: backend.eventStore,
    currentAccount: currentAccounts(backend.eventStore).current,
    readStore: backend.readStore,
    accountsOf: accountsOf(backend),
    secrets,
    passwordWork: passwordWork(),
    deliveryQueue: backend.deliveryQueue,
    keyPrefix: "ll",
    baseUrl: "http://localhost:3000",
    baseHost: "localhost",
    baseHostSlugs: false,
    derivedSlug: slugDerivation("0123456789abcdef0123456789abcdef"),
    urlSafety: async (urls: readonly URL[]) =>
      urls.map(({ hostname }) => (hostname === "bad.example" ? "unsafe" : "safe")),
    recheckLater: recheckLater({ secrets: backend.secrets, clock: runtimeDeps.clock }),
    linksWithFingerprint: linksWithFingerprint({
      readStore,
      writesAreReadable: () => catchUp().then(() => true),
    }),
  };
  const close = async () => {
    await backend.close();
    await folder.remove();
  };
  return { deps, foldStore, catchUp, close };
}

export function callerOf(accountId: string, tier: Tier): Caller {
  return { accountId, tier, via: "api", keyId: runtimeDeps.newId() };
}
