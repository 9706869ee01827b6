// linkledger account create | invite | tier | upgrades | password | close | list | show
import { Argument, Option } from "commander";
import { issueKey } from "../../commands/account/change-keys.ts";
import { openAccount } from "../../commands/account/sign-up.ts";
import { changeTier, upgradeRequests } from "../../commands/account/tier.ts";
import { Refused } from "../../commands/refusals.ts";
import { TIERS, type Tier } from "../../events/vocabulary.ts";
import { accountRow, keyRow, listAccounts, showAccount } from "../../queries/accounts.ts";
import { domainRow } from "../../queries/domains.ts";
import { ownerEmail } from "../../queries/people.ts";
import { listWebhooks, webhookRow } from "../../queries/webhooks.ts";
import { type CommandRow, required } from "../command.ts";
import { ACCOUNT } from "../named.ts";
import { asQuery, catchUp, inService, type Session } from "../session.ts";

const DAY_MS = 86_400_000;
const TIER = new Option("--tier <tier>", "subscription tier; by default that of who signs up").choices(TIERS);

type NewAccount = { email: string; tier?: Tier; key?: boolean };
const args = { account: ACCOUNT, tier: new Argument("<tier>").choices(TIERS) };

export const commands: readonly CommandRow[] = [
  {
    name: "create",
    about: "open an account",
    options: [
      required("--email <address>", "e-mail address, one account each"),
      TIER,
      new Option("--key", "issue a first API key, too, which is shown this once only"),
    ],
    async run(
      { deps, context, config },
      { email: address, tier = config.defaultTier, key: wantsKey }: NewAccount,
    ) {
      const { INVITATION_MS } = await import("../../commands/people/one-time-tokens.ts");
      const { accountId, email } = await openAccount(deps, context, { email: address, tier });
      const choosing = config.signIn.includes("password")
        ? await passwordLink({ deps, config }, accountId, INVITATION_MS)
        : undefined;
      const issued = wantsKey && (await issueKey(deps, context, accountId, { label: "first" }));
      return {
        account_id: accountId,
        email,
        tier,
        ...(choosing && { password_link: choosing.link, password_link_expires_at: choosing.expires_at }),
        ...(issued && { key_id: issued.keyId, key: issued.key }),
      };
    },
  },
  {
    name: "invite <email>",
    about: "make a link with which somebody chooses a password and opens an account, once, within a week",
    args: { email: "the address that the account will have" },
    options: [TIER],
    async run({ deps, config }, { tier = config.defaultTier }: { tier?: Tier }, address: string) {
      requirePasswords(config);
      const { INVITATION_MS, invite } = await import("../../commands/people/one-time-tokens.ts");
      const { email, path, expiresAt } = await invite(
        deps,
        { email: address, tier, isMailed: false },
        INVITATION_MS,
      );
      return { email, tier, link: `${config.baseUrl}${path}`, expires_at: expiresAt };
    },
  },
  {
    name: "tier <account> <tier>",
    about: "move an account to another tier",
    args,
    async run({ deps, context }, _: object, accountId: string, tier: Tier) {
      await changeTier(deps, context, accountId, tier);
      return { account_id: accountId, tier };
    },
  },
  {
    name: "upgrades",
    about: "accounts that ask for the Developer plan, longest first; `account tier` grants it",
    by: asQuery,
    async run({ deps }) {
      const requests = (await upgradeRequests(deps)).map(async ({ accountId, at }) => ({
        account_id: accountId,
        email: await ownerEmail(deps, accountId),
        asked_at: at,
      }));
      return { upgrades: await Promise.all(requests) };
    },
  },
  {
    name: "password <account>",
    about: "make a link with which the account's owner chooses a new password, once, within a day",
    args,
    by: inService,
    async run(session, _: object, accountId: string) {
      requirePasswords(session.config);
      return { account_id: accountId, ...(await passwordLink(session, accountId, DAY_MS)) };
    },
  },
  {
    name: "close <account>",
    about:
      "close an account for good: keys, sessions, domains, webhooks and links; its e-mail address is erased",
    args,
    options: [required("--yes", "I know that this can't be undone")],
    async run(session, _: object, accountId: string) {
      const { deps, context } = session;
      const { closeAccount, finishClosing } = await import("../../commands/account/close-account.ts");
      const { linksToClose } = await import("../../queries/links/links-to-close.ts");
      await closeAccount(deps, context, accountId);
      await catchUp(session);
      const isShown = () => catchUp(session).then(() => true);
      const closing = { ...deps, ...linksToClose(deps), isShown };
      const { deletedLinks } = await finishClosing(closing, context, accountId);
      return { account_id: accountId, status: "closed", deleted_links: deletedLinks };
    },
  },
  {
    name: "list",
    about: "all accounts, oldest first",
    by: asQuery,
    async run(session) {
      const accounts = await listAccounts(session.deps);
      return { accounts: await Promise.all(accounts.map((row) => accountRow(session.deps, row))) };
    },
  },
  {
    name: "show <account>",
    about: "one account with its keys, domains and webhooks",
    args,
    by: asQuery,
    async run(session, _: object, accountId: string) {
      const { account, keys, domains } = await showAccount(session.deps, accountId);
      return {
        ...(await accountRow(session.deps, account)),
        keys: keys.map((key) => keyRow(key, session.deps.clock())),
        domains: domains.map(domainRow),
        webhooks: (await listWebhooks(session.deps, accountId)).map(webhookRow),
      };
    },
  },
];

/** @throws sign_in_off where nobody signs in by a password */
function requirePasswords({ signIn }: Session["config"]): void {
  if (!signIn.includes("password"))
    throw new Refused(
      "sign_in_off",
      "Nobody signs in by a password here (SIGN_IN): `person sign-in-link` makes a link that signs somebody in, and `account create` opens an account",
    );
}

async function passwordLink(
  { deps, config }: Pick<Session, "deps" | "config">,
  accountId: string,
  lifetimeMs: number,
): Promise<{ link: string; expires_at: string }> {
  const { issuePasswordReset } = await import("../../commands/people/one-time-tokens.ts");
  const { path, expiresAt } = await issuePasswordReset(deps, accountId, { lifetimeMs, isMailed: false });
  return { link: `${config.baseUrl}${path}`, expires_at: expiresAt };
}
