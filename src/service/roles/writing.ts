// The dependencies that the api and the portal share: creating links, reading one's own writes and the log.

import { type CurrentAccounts, currentAccounts } from "../../commands/account/account-stream.ts";
import type { CreateLinkDeps } from "../../commands/links/create-link.ts";
import { slugDerivation } from "../../commands/links/derived-identity.ts";
import { recheckLater, urlSafety } from "../../commands/links/url-safety.ts";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { secretKeyOf } from "../../config/config.ts";
import { linksWithFingerprint } from "../../queries/links/links-with-fingerprint.ts";
import type { LogReader } from "../../queries/log-reader/log-reader.ts";
import { type ReadYourWrites, readYourWrites } from "../../queries/read-your-writes.ts";
import type { LogFollower } from "../../stores/coordination/log-follower.ts";
import { logReaderIn } from "../threads/reader.ts";
import type { RoleContext } from "./role-context.ts";

export type Writing = {
  accounts: CurrentAccounts;
  links: CreateLinkDeps;
  fresh: ReadYourWrites;
  logReader: LogReader;
  /** `listener`: called when somebody joined or left an account, or got another role, and when one was closed. */
  onMembersChanged: (listener: (accountId: string) => void) => void;
};

/** What links are created and changed with, in a service and on the command line. */
export function linkDeps(
  {
    config,
    log,
    clock,
    backend,
    passwordWork,
  }: Pick<RoleContext, "config" | "log" | "clock" | "backend" | "passwordWork">,
  { accounts, writesAreReadable }: { accounts: CurrentAccounts } & Pick<ReadYourWrites, "writesAreReadable">,
): CreateLinkDeps {
  const { baseHost, baseUrl, baseHostSlugs } = config;
  const { eventStore, readStore, secrets } = backend;
  return {
    ...runtimeDeps,
    eventStore,
    clock,
    baseUrl,
    baseHost,
    baseHostSlugs,
    secrets,
    passwordWork,
    currentAccount: accounts.current,
    derivedSlug: slugDerivation(secretKeyOf(config)),
    urlSafety: urlSafety({ ...config, log }),
    recheckLater: recheckLater({ secrets, clock }),
    linksWithFingerprint: linksWithFingerprint({ readStore, writesAreReadable }),
  };
}

export function openWriting(context: RoleContext, follower: LogFollower): Writing {
  const { backend, group, stopping, threads } = context;
  const { eventStore, readStore } = backend;
  const { sleep } = runtimeDeps;
  const accounts = currentAccounts(eventStore);
  const othersFollow = async () => group?.othersFollow();
  const fresh = readYourWrites({ eventStore, readStore, follower, othersFollow, sleep, stopping });
  return {
    accounts,
    links: linkDeps(context, { accounts, ...fresh }),
    fresh,
    logReader: logReaderIn(threads.reader),
    onMembersChanged: (listener) =>
      follower.listen(({ type, data }) => {
        const isOfMembers = type.startsWith("Member") || type === "AccountClosed";
        if (isOfMembers) listener(String((data as { accountId?: unknown } | null)?.accountId));
      }),
  };
}
