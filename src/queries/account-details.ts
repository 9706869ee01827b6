// What the operator is shown of accounts: a page of them, and one with all that it has.
import { emailSecret } from "../commands/account/secrets.ts";
import { upgradeRequestedAt } from "../commands/account/tier.ts";
import { type AccountLinksDocument, accountLinks } from "../projections/definitions/account-links.ts";
import { type AccountDocument, accounts } from "../projections/definitions/accounts.ts";
import { type LinkDocument, links } from "../projections/definitions/links.ts";
import type { ReadStore } from "../read-store/port.ts";
import type { Secrets } from "../secrets/port.ts";
import { domainRow, keyRow, webhookRow } from "./account-rows.ts";
import { lastUseOf, showAccount } from "./accounts.ts";
import { behindCursor, pageOf } from "./cursor.ts";
import { listWebhooks } from "./webhooks.ts";

type Deps = { readStore: ReadStore; secrets: Secrets; clock: () => Date };

export type AccountRow = Awaited<ReturnType<typeof accountRow>>;
export type AccountDetails = Awaited<ReturnType<typeof accountDetails>>;

const NEWEST_LINKS = 10;

/** Newest first. @throws invalid_cursor */
export async function accountsPage(
  deps: Deps,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<{ accounts: AccountRow[]; next: string | null }> {
  const sort = { field: "openedAt", direction: "desc" } as const;
  const query = { sort, ...behindCursor(cursor), limit: limit + 1 };
  const found = await deps.readStore.find<AccountDocument>(accounts.collection.name, query);
  const { page, next } = pageOf(found, limit, ({ openedAt, _id }) => ({ value: openedAt, id: _id }));
  return { accounts: await Promise.all(page.map((account) => accountRow(deps, account))), next };
}

/** Of receivers the host alone, as the rest of a URL may hold a secret. @throws not_found */
export async function accountDetails(deps: Deps, accountId: string) {
  const { account, keys, domains } = await showAccount(deps, accountId);
  const [row, upgradeAskedAt, newest, hooks, uses] = await Promise.all([
    accountRow(deps, account),
    upgradeRequestedAt(deps, accountId),
    newestLinks(deps, accountId),
    listWebhooks(deps, accountId),
    Promise.all(keys.map(({ _id }) => lastUseOf(deps, _id))),
  ]);
  return {
    ...row,
    upgrade_asked_at: upgradeAskedAt ?? null,
    newest_links: newest,
    keys: keys.map((key, index) => ({ ...keyRow(key), last_used_at: uses[index] ?? null })),
    domains: domains.map(domainRow),
    webhooks: hooks.map((hook) => {
      const { url, account_id: _, ...rest } = webhookRow(hook);
      return { ...rest, host: new URL(url).host };
    }),
  };
}

/** `links`: without deleted ones. `email`: null once the account is closed. */
async function accountRow(
  { readStore, secrets, clock }: Deps,
  { _id, tier, status, openedAt }: AccountDocument,
) {
  const [email, counted] = await Promise.all([
    secrets.get(emailSecret(_id), clock()),
    readStore.get<AccountLinksDocument>(accountLinks.collection.name, _id),
  ]);
  return {
    account_id: _id,
    email: typeof email === "string" ? email : null,
    ...{ tier, status, opened_at: openedAt, links: counted?.links ?? 0 },
  };
}

async function newestLinks({ readStore }: Deps, accountId: string) {
  const query = { where: { accountId, deleted: false }, limit: NEWEST_LINKS };
  const sort = { field: "createdAt", direction: "desc" } as const;
  const found = await readStore.find<LinkDocument>(links.collection.name, { ...query, sort });
  return found.map(({ _id, shortUrl, longUrl, status, createdAt }) => ({
    ...{ link: _id, short_url: shortUrl, long_url: longUrl, status, created_at: createdAt },
  }));
}
