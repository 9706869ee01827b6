// linkledger link create | block | unblock | show
import { opened } from "../commands/account/account.ts";
import { currentAccounts } from "../commands/account/accounts.ts";
import { emailSecret } from "../commands/account/secrets.ts";
import { blockLink, unblockLink } from "../commands/links/change-link.ts";
import { createLink } from "../commands/links/create-link.ts";
import type { LinkAddress } from "../commands/links/link-stream.ts";
import { actorKey } from "../projections/definitions/event-index.ts";
import { findOwnDomain } from "../queries/domains.ts";
import { type LinkStep, linkHistory } from "../queries/links/link-history.ts";
import { createLogger } from "../runtime/logging.ts";
import { type CommandRow, option, required } from "./command.ts";
import { LINK_ADDRESS } from "./named.ts";
import { catchUp, runReading } from "./session.ts";

type NewLink = { account: string; slug?: string; domain?: string };

export const commands: readonly CommandRow[] = [
  {
    name: "create <url>",
    about: "create a link for an account, as its owner does in the portal",
    args: { url: "where it leads" },
    byAccount: true,
    options: [
      option("--slug <slug>", "a slug of one's own; on the base host as BASE_HOST_SLUGS says"),
      option("--domain <hostname>", "one of the account's own domains"),
    ],
    async run(session, { account: accountId, slug, domain }: NewLink, url: string) {
      const { backend, config, deps, context } = session;
      const { linkDeps } = await import("../service/roles/writing.ts");
      const accounts = currentAccounts(deps.eventStore);
      const log = createLogger("warn", session.terminal.stderr);
      const writing = { config, log, clock: deps.clock, backend };
      const creating = linkDeps(writing, {
        accounts,
        writesAreReadable: () => catchUp(session).then(() => true),
      });
      const { tier } = opened(await accounts.current(accountId));
      const own =
        domain === undefined ? undefined : await findOwnDomain(deps, accountId, domain.toLowerCase());
      const request = { url, customSlug: slug, domain_id: own?.domainId ?? undefined };
      const by = { accountId, tier, via: "web" } as const;
      const { baseHostSlugs } = config;
      return (await createLink(creating, context, by, request, { baseHostSlugs })).link;
    },
  },
  {
    name: "block <link>",
    about: "stop a link, whatever its owner does: it answers 404, and its hits are still recorded",
    args: { link: LINK_ADDRESS },
    options: [
      required("--reason <text>", "the link's owner is told why"),
      option("--legal", "the law demands it: answer 451 instead of 404"),
    ],
    async run({ deps, context }, options: { reason: string; legal?: boolean }, address: LinkAddress) {
      const { reason, legal = false } = options;
      const { position } = await blockLink(deps, context, address, { reason, legal });
      return { ...address, blocked: true, position };
    },
  },
  {
    name: "unblock <link>",
    about: "let a blocked link be what its owner made of it",
    args: { link: LINK_ADDRESS },
    async run({ deps, context }, _: object, address: LinkAddress) {
      const { position } = await unblockLink(deps, context, address);
      return { ...address, blocked: false, position };
    },
  },
  {
    name: "show <link>",
    about: "its state, owner, destination and history",
    args: { link: LINK_ADDRESS },
    by: runReading,
    async run({ deps }, _: object, { host, slug }: LinkAddress) {
      const { link, history } = await linkHistory(deps, undefined, host, slug);
      const { shortUrl, longUrl, status, block, accountId, createdAt } = link;
      return {
        short_url: shortUrl,
        long_url: longUrl,
        status,
        blocked: block,
        account_id: accountId,
        email: (await deps.secrets.get(emailSecret(accountId), deps.clock())) ?? null,
        created_at: createdAt,
        history: history.map(stepRow),
      };
    },
  },
];

function stepRow({ type, at, actor, to, changes, blocked, withdrawn }: LinkStep) {
  const { reason } = blocked ?? withdrawn ?? {};
  return {
    ...{ at, type, by: actorKey(actor) },
    ...(to !== undefined && { to }),
    ...(Object.keys(changes).some((name) => name !== "url") && { changes }),
    ...(reason && { reason }),
  };
}
