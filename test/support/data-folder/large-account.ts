// A data folder with one large account in it, written as the service would write it: its links, a key and its clicks.

import { randomUUID } from "node:crypto";
import { currentAccounts } from "../../../src/commands/account/account-stream.ts";
import { issueKey } from "../../../src/commands/account/change-keys.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { parseConfig } from "../../../src/config/config.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { linkStream } from "../../../src/events/streams.ts";
import { portalCookies } from "../../../src/portal/shell/request-visit.ts";
import { sessions } from "../../../src/portal/shell/sessions.ts";
import { openBackend } from "../../../src/service/stores/backend.ts";
import { operator } from "../commands/command-deps.ts";
import { linkClicked, linkCreated } from "../event-store/stored-events.ts";
import { foldGroups } from "../projections/fold-groups.ts";

export type LargeAccount = {
  accountId: string;
  /** Made its links. */
  key: string;
  /** Twenty of other accounts, which have no links. */
  otherKeys: string[];
  cookie: string;
  slugOf: (link: number) => string;
};

const HOST = "localhost";
const AT_ONCE = 1_000;
/** Of which each link has one: `t0`, `t1` and so on. */
export const TAGS = 8;
const origin = { correlationId: "seed", causationId: "seed", actor: operator.actor };

/** Clicks are spread evenly over the links; all is in the documents when it resolves. The account is a Developer's. */
export async function seedLargeAccount(
  dataDir: string,
  size: { links: number; clicks: number },
): Promise<LargeAccount> {
  const backend = await openBackend(parseConfig({ DATA_DIR: dataDir }));
  const { eventStore } = backend;
  const deps = { ...runtimeDeps, ...backend, keyPrefix: "ll" };
  const slugOf = (link: number) => `seed${link.toString(36)}`;
  try {
    const { accountId } = await openAccount(deps, operator, {
      email: "large@example.com",
      tier: "developer",
    });
    const { key, keyId } = await issueKey(deps, operator, accountId, {});
    const otherKeys: string[] = [];
    for (const email of ["a@example.com", "b@example.com", "c@example.com", "d@example.com"]) {
      const other = await openAccount(deps, operator, { email, tier: "developer" });
      for (let n = 0; n < 5; n += 1)
        otherKeys.push((await issueKey(deps, operator, other.accountId, {})).key);
    }
    const createLink = async (n: number) => {
      const slug = slugOf(n);
      const at = new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString();
      const urls = {
        longUrl: `https://example.com/products/${n}?from=seed`,
        shortUrl: `http://${HOST}/${slug}`,
      };
      const event = linkCreated({ host: HOST, slug, accountId, keyId, at, ...urls, tags: [`t${n % TAGS}`] });
      await eventStore.append(linkStream(HOST, slug), "none", [newEvent(event, randomUUID(), origin)]);
    };
    for (let first = 0; first < size.links; first += AT_ONCE)
      await Promise.all(
        Array.from({ length: Math.min(AT_ONCE, size.links - first) }, (_, n) => createLink(first + n)),
      );
    let revision: "none" | number = "none";
    for (let first = 0; first < size.clicks; first += AT_ONCE) {
      const clicks = Array.from({ length: AT_ONCE }, (_, n) => {
        const link = `${HOST}/${slugOf((first + n) % size.links)}`;
        const event = linkClicked({
          link,
          accountId,
          visitor: randomUUID().slice(0, 16),
          city: `City ${n % 40}`,
        });
        return newEvent(event, randomUUID(), origin);
      });
      revision = (await eventStore.append("clicks-seed-20260301", revision, clicks)).revision;
    }
    await foldGroups({ eventStore, readStore: backend.foldStore });
    const from = { browser: "test", address: "127.0.0.0", accountId };
    // An account that the operator opened has no password, whose epoch is "".
    const token = await sessions({
      ...backend,
      currentAccount: currentAccounts(eventStore).current,
      clock: runtimeDeps.clock,
      ...{ signIn: ["password"], sessionHours: 720 },
    }).open(accountId, { way: "password", epoch: "" }, from);
    const cookie = `${portalCookies("http://localhost").session}=${token}`;
    return { accountId, key, otherKeys, cookie, slugOf };
  } finally {
    await backend.close();
  }
}
