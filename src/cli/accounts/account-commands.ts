// linkledger account create | tier | upgrades | password | close | list | show
import { Argument, Option } from "commander";
import { emailSecret } from "../../commands/account/secrets.ts";
import { openAccount } from "../../commands/account/sign-up.ts";
import { changeTier, upgradeRequests } from "../../commands/account/tier.ts";
import { TIERS, type Tier } from "../../events/vocabulary.ts";
import type { AccountDocument } from "../../projections/definitions/accounts.ts";
import { domainRow, keyRow, webhookRow } from "../../queries/account-rows.ts";
import { listAccounts, showAccount } from "../../queries/accounts.ts";
import { listWebhooks } from "../../queries/webhooks.ts";
import { type CommandRow, required } from "../command.ts";
import { ACCOUNT, accountNamed } from "../named.ts";
import { counted } from "../output.ts";
import { catchUp, runFirstCommand, runQuery, runWithoutCatchUp, type Session } from "../session.ts";

const DAY_MS = 86_400_000;
const args = { account: ACCOUNT, tier: new Argument("<tier>").choices(TIERS) };

export const accountCommands: readonly CommandRow[] = [
  {
    name: "create",
    about: "open an account",
    options: [
      required("--email <address>", "e-mail address, one account each"),
      new Option("--tier <tier>", "subscription tier").choices(TIERS).default("free"),
    ],
    by: runFirstCommand,
    async run({ deps, context }, options: { email: string; tier: Tier }) {
      const { accountId, email } = await openAccount(deps, context, options);
      return { account_id: accountId, email, tier: options.tier };
    },
    print: (made: { account_id: string; email: string; tier: Tier }) =>
      `${made.email} has an account on the ${made.tier} tier: ${made.account_id}`,
  },
  {
    name: "tier <account> <tier>",
    about: "move an account to another tier",
    args,
    async run(session, _: object, given: string, tier: Tier) {
      const { deps, context } = session;
      const accountId = await accountNamed(session, given);
      await changeTier(deps, context, accountId, tier);
      return { account_id: accountId, tier };
    },
  },
  {
    name: "upgrades",
    about: "accounts that ask for the Developer plan, longest first; `account tier` grants it",
    by: runQuery,
    async run({ deps }) {
      const requests = (await upgradeRequests(deps)).map(async ({ accountId, at }) => {
        const email = await deps.secrets.get(emailSecret(accountId), deps.clock());
        return { account_id: accountId, email: email ?? null, asked_at: at };
      });
      return { upgrades: await Promise.all(requests) };
    },
  },
  {
    name: "password <account>",
    about: "make a link with which the account's owner chooses a new password, once, within a day",
    args,
    by: runWithoutCatchUp,
    async run(session, _: object, given: string) {
      const { deps, config } = session;
      const { issuePasswordReset } = await import("../../commands/account/one-time-tokens.ts");
      const accountId = await accountNamed(session, given);
      const { path, expiresAt } = await issuePasswordReset(deps, accountId, DAY_MS);
      return { account_id: accountId, link: `${config.baseUrl}${path}`, expires_at: expiresAt };
    },
  },
  {
    name: "close <account>",
    about:
      "close an account for good: keys, sessions, domains, webhooks and links; its e-mail address is erased",
    args,
    options: [required("--yes", "I know that this can't be undone")],
    async run(session, _: object, given: string) {
      const { deps, context } = session;
      const { closeAccount } = await import("../../commands/account/close-account.ts");
      const { finishClosing } = await import("../../jobs/account-closing.ts");
      const accountId = await accountNamed(session, given);
      await closeAccount(deps, context, accountId);
      await catchUp(session);
      const isShown = () => catchUp(session).then(() => true);
      const { deletedLinks } = await finishClosing({ ...deps, isShown }, context, accountId);
      return { account_id: accountId, status: "closed", deleted_links: deletedLinks };
    },
    print: (closed: { account_id: string; deleted_links: number }) =>
      `Account ${closed.account_id} is closed, and ${counted(closed.deleted_links, "link")} deleted`,
  },
  {
    name: "list",
    about: "all accounts, oldest first",
    by: runQuery,
    async run(session) {
      const found = await listAccounts(session.deps);
      return { accounts: await Promise.all(found.map((row) => accountRow(session, row))) };
    },
  },
  {
    name: "show <account>",
    about: "one account with its keys, domains and webhooks",
    args,
    by: runQuery,
    async run(session, _: object, given: string) {
      const accountId = await accountNamed(session, given);
      const { account: found, keys, domains } = await showAccount(session.deps, accountId);
      return {
        ...(await accountRow(session, found)),
        keys: keys.map(keyRow),
        domains: domains.map(domainRow),
        webhooks: (await listWebhooks(session.deps, accountId)).map(webhookRow),
      };
    },
  },
];

async function accountRow({ deps }: Session, account: AccountDocument) {
  const email = await deps.secrets.get(emailSecret(account._id), deps.clock());
  return {
    account_id: account._id,
    email: email ?? null,
    tier: account.tier,
    status: account.status,
    opened_at: account.openedAt,
  };
}
