// linkledger account create | tier | upgrades | password | close | list | show
import { Argument, type Command, Option } from "commander";
import { upgradeRequests } from "../billing/manual-billing.ts";
import { changeTier } from "../commands/account/change-tier.ts";
import { emailSecret, openAccount } from "../commands/account/open-account.ts";
import { TIERS, type Tier } from "../events/vocabulary.ts";
import type { AccountDocument } from "../projections/definitions/accounts.ts";
import { domainRow, keyRow, webhookRow } from "../queries/account-rows.ts";
import { listAccounts, showAccount } from "../queries/accounts.ts";
import { listWebhooks } from "../queries/webhooks.ts";
import { type Json, runCommand, runQuery, runWithoutCatchUp, type Session } from "./session.ts";

const DAY_MS = 86_400_000;

export function accountCommands(program: Command): void {
  const account = program.command("account").description("accounts and their tiers");

  account
    .command("create")
    .description("open an account")
    .requiredOption("--email <address>", "e-mail address, one account each")
    .addOption(new Option("--tier <tier>", "subscription tier").choices(TIERS).default("free"))
    .option("--json", "print one JSON document")
    .action((options: Json & { email: string; tier: Tier }) =>
      runCommand(
        options,
        async ({ deps, context }) => {
          const { accountId, email } = await openAccount(deps, context, options);
          return { account_id: accountId, email, tier: options.tier };
        },
        { mayBeFirst: true },
      ),
    );

  account
    .command("tier")
    .description("move an account to another tier")
    .argument("<account-id>")
    .addArgument(new Argument("<tier>").choices(TIERS))
    .option("--json", "print one JSON document")
    .action((accountId: string, tier: Tier, options: Json) =>
      runCommand(options, async ({ deps, context }) => {
        await changeTier(deps, context, accountId, tier);
        return { account_id: accountId, tier };
      }),
    );

  account
    .command("upgrades")
    .description("accounts that ask for the Developer plan, longest first; `account tier` grants it")
    .option("--json", "print one JSON document")
    .action((options: Json) =>
      runQuery(options, async ({ deps }) => {
        const requests = (await upgradeRequests(deps)).map(async ({ accountId, at }) => {
          const email = await deps.secrets.get(emailSecret(accountId), deps.clock());
          return { account_id: accountId, email: email ?? null, asked_at: at };
        });
        return { upgrades: await Promise.all(requests) };
      }),
    );

  account
    .command("password")
    .description("make a link with which the account's owner chooses a new password, once, within a day")
    .argument("<account-id>")
    .option("--json", "print one JSON document")
    .action((accountId: string, options: Json) =>
      runWithoutCatchUp(options, async ({ deps, config }) => {
        const { issuePasswordReset } = await import("../commands/credentials/reset-password.ts");
        const { path, expiresAt } = await issuePasswordReset(deps, accountId, DAY_MS);
        return { account_id: accountId, link: `${config.baseUrl}${path}`, expires_at: expiresAt };
      }),
    );

  account
    .command("close")
    .description(
      "close an account for good: keys, sessions, domains, webhooks and links; its e-mail address is erased",
    )
    .argument("<account-id>")
    .requiredOption("--yes", "I know that this can't be undone")
    .option("--json", "print one JSON document")
    .action((accountId: string, options: Json) =>
      runCommand(options, async ({ deps, context }, catchUp) => {
        const { closeAccount } = await import("../commands/account/close-account.ts");
        const { finishClosing } = await import("../jobs/account-closing.ts");
        await closeAccount(deps, context, accountId);
        await catchUp();
        const isShown = () => catchUp().then(() => true);
        const { deletedLinks } = await finishClosing({ ...deps, isShown }, context, accountId);
        return { account_id: accountId, status: "closed", deleted_links: deletedLinks };
      }),
    );

  account
    .command("list")
    .description("all accounts, oldest first")
    .option("--json", "print one JSON document")
    .action((options: Json) =>
      runQuery(options, async (session) => {
        const found = await listAccounts(session.deps);
        return { accounts: await Promise.all(found.map((row) => accountRow(session, row))) };
      }),
    );

  account
    .command("show")
    .description("one account with its keys, domains and webhooks")
    .argument("<account-id>")
    .option("--json", "print one JSON document")
    .action((accountId: string, options: Json) =>
      runQuery(options, async (session) => {
        const { account: found, keys, domains } = await showAccount(session.deps, accountId);
        const row = await accountRow(session, found);
        const webhooks = await listWebhooks(session.deps, accountId);
        return {
          ...row,
          keys: keys.map(keyRow),
          domains: domains.map(domainRow),
          webhooks: webhooks.map(webhookRow),
        };
      }),
    );
}

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
