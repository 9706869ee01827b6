// linkledger link block | unblock | show
import { emailSecret } from "../commands/account/secrets.ts";
import { blockLink, unblockLink } from "../commands/links/change-link.ts";
import { actorKey } from "../projections/definitions/event-index.ts";
import { anyLinkHistory, type LinkStep } from "../queries/links/link-history.ts";
import { type CommandRow, option, required } from "./command.ts";
import { LINK, linkNamed } from "./named.ts";
import { runReading } from "./session.ts";

type Named = { host: string; slug: string };

export const linkCommands: readonly CommandRow[] = [
  {
    name: "block <link>",
    about: "stop a link, whatever its owner does: it answers 404, and its hits are still recorded",
    args: { link: LINK },
    options: [
      required("--reason <text>", "the link's owner is told why"),
      option("--legal", "the law demands it: answer 451 instead of 404"),
    ],
    async run(session, { reason, legal = false }: { reason: string; legal?: boolean }, given: string) {
      const address = linkNamed(session, given);
      const { position } = await blockLink(session.deps, session.context, address, { reason, legal });
      return { ...address, blocked: true, position };
    },
    print: ({ host, slug }: Named) => `${host}/${slug} is blocked`,
  },
  {
    name: "unblock <link>",
    about: "let a blocked link be what its owner made of it",
    args: { link: LINK },
    async run(session, _: object, given: string) {
      const address = linkNamed(session, given);
      const { position } = await unblockLink(session.deps, session.context, address);
      return { ...address, blocked: false, position };
    },
    print: ({ host, slug }: Named) => `${host}/${slug} is no longer blocked`,
  },
  {
    name: "show <link>",
    about: "its state, owner, destination and history",
    args: { link: LINK },
    by: runReading,
    async run(session, _: object, given: string) {
      const { deps } = session;
      const { host, slug } = linkNamed(session, given);
      const { link, history } = await anyLinkHistory(deps, host, slug);
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
    print: ({ status, ...found }: Named & { status: string; blocked: unknown }) => ({
      status: found.blocked ? `blocked (its owner's: ${status})` : status,
      ...found,
    }),
  },
];

function stepRow({ type, at, actor, to, blocked, withdrawn }: LinkStep) {
  const { reason } = blocked ?? withdrawn ?? {};
  return { at, type, by: actorKey(actor), ...(to !== undefined && { to }), ...(reason && { reason }) };
}
