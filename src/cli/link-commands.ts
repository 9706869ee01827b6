// linkledger link create | list | restore | block | unblock | show
import { acceptedItem } from "../api/links/bulk-answer.ts";
import { opened } from "../commands/account/account.ts";
import { loadAccount } from "../commands/account/account-stream.ts";
import { blockLink, unblockLink } from "../commands/links/block-link.ts";
import { changeLink } from "../commands/links/change-link.ts";
import { createLink } from "../commands/links/create-link.ts";
import { LinkFields } from "../commands/links/fields/link-fields.ts";
import { existing } from "../commands/links/link.ts";
import { currentLink, type LinkAddress } from "../commands/links/link-stream.ts";
import { Refused } from "../commands/refusals.ts";
import type { LinkStatus } from "../events/links/link-status.ts";
import { linkKey } from "../events/streams.ts";
import { actorKey } from "../projections/definitions/event-index.ts";
import { projectionGroups } from "../projections/groups.ts";
import { findOwnDomain } from "../queries/domains.ts";
import { hitsOfLinks } from "../queries/links/hits-of-links.ts";
import { type LinkStep, linkHistory } from "../queries/links/link-history.ts";
import { linkDetailsObject, linkObject } from "../queries/links/link-object.ts";
import { statusOf } from "../queries/links/link-statuses.ts";
import { listLinks } from "../queries/links/list-links.ts";
import { ownerEmail } from "../queries/people.ts";
import { type CommandRow, option, required, wholeFrom } from "./command.ts";
import { linkDepsOf } from "./link-deps.ts";
import { LINK_ADDRESS, STATUS_OPTION } from "./named.ts";
import { inService, queryOf, type Session } from "./session.ts";

type NewLink = { account: string; slug?: string; domain?: string };
type Listed = {
  account: string;
  status?: LinkStatus;
  tag?: string;
  domain?: string;
  search?: string;
  limit: number;
  cursor?: string;
};

const PAGE = 50;

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
      const { config, deps, context } = session;
      const own = domain === undefined ? undefined : await findOwnDomain(deps, accountId, domain);
      const request = { url, customSlug: slug, domain_id: own?.domainId ?? undefined };
      const by = await ownerOf(session, accountId);
      const { link } = await createLink(await linkDepsOf(session), context, by, request);
      return linkObject(link, config.baseUrl);
    },
  },
  {
    name: "list",
    about: "an account's links, newest first, with what visitors meet and their hits",
    byAccount: true,
    options: [
      STATUS_OPTION,
      option("--tag <tag>", "only links with this tag"),
      option("--domain <hostname>", "only links on this domain of the account"),
      option("--search <words>", "only links that have all of the words"),
      option("--limit <number>", "at most so many", wholeFrom(1)).default(PAGE),
      option("--cursor <cursor>", "`next_cursor` of the page before"),
    ],
    by: queryOf(projectionGroups),
    async run({ deps }, { account: accountId, domain, search, ...options }: Listed) {
      const own = domain === undefined ? undefined : await findOwnDomain(deps, accountId, domain);
      const query = {
        ...options,
        q: search,
        domain_id: own?.domainId ?? undefined,
        scope: "account",
      } as const;
      const { links, ...page } = await listLinks(deps, { accountId, keyId: "" }, query);
      const keys = links.map(({ custom_domain, slug }) => linkKey(custom_domain ?? deps.baseHost, slug));
      const hits = await hitsOfLinks(deps, keys);
      return {
        links: links.map(({ short_url, long_url, status, title = null, created_at }, n) => ({
          short_url,
          long_url,
          status,
          title,
          created_at,
          ...hits[n],
        })),
        ...page,
      };
    },
  },
  {
    name: "restore <link>",
    about: "restore a deleted link, as its owner does in the portal",
    args: { link: LINK_ADDRESS },
    options: [option("--external-id <id>", "the one that it gets, where another link has its own by now")],
    async run(session, { externalId }: { externalId?: string }, address: LinkAddress) {
      const { deps, config, context } = session;
      const { accountId } = existing(await currentLink(deps.eventStore, address));
      const by = await ownerOf(session, accountId);
      const patch =
        externalId === undefined
          ? undefined
          : acceptedItem(LinkFields.safeParse({ external_id: externalId }));
      if (patch instanceof Refused) throw patch;
      const request = { type: "restore", ...(patch && { patch }) } as const;
      const { link } = await changeLink(await linkDepsOf(session), context, by, address, request);
      return linkDetailsObject(link, await statusOf(deps, link), config.baseUrl);
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
    by: inService,
    async run({ deps }, _: object, { host, slug }: LinkAddress) {
      const { link, history } = await linkHistory(deps, undefined, host, slug);
      const { shortUrl, longUrl, block, accountId, createdAt } = link;
      return {
        short_url: shortUrl,
        long_url: longUrl,
        status: await statusOf(deps, link),
        blocked: block,
        account_id: accountId,
        email: await ownerEmail(deps, accountId),
        created_at: createdAt,
        history: history.map(stepRow),
      };
    },
  },
];

function stepRow({ type, at, actor, to, changes, blocked, withdrawn }: LinkStep) {
  const { reason } = blocked ?? withdrawn ?? {};
  return {
    at,
    type,
    by: actorKey(actor),
    ...(to !== undefined && { to }),
    ...(Object.keys(changes).some((name) => name !== "url") && { changes }),
    ...(reason && { reason }),
  };
}

/** Whose limits and rules count. */
async function ownerOf({ deps }: Session, accountId: string) {
  const { tier } = opened(await loadAccount(deps.eventStore, accountId));
  return { accountId, tier, via: "web" } as const;
}
