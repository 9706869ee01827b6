// linkledger link block | unblock | show
import type { Command } from "commander";
import { emailSecret } from "../commands/account/open-account.ts";
import { blockLink, unblockLink } from "../commands/links/block-link.ts";
import { namedLink } from "../commands/withdrawals/named-link.ts";
import { actorKey } from "../projections/definitions/event-index.ts";
import { anyLinkHistory, type LinkStep } from "../queries/links/link-history.ts";
import { type Json, runCommand, runReading } from "./session.ts";

const LINK = "short URL, `host/slug`, or a slug on the base host";

export function linkCommands(program: Command): void {
  const link = program.command("link").description("one link: what it is, and stopping an abusive one");

  link
    .command("block")
    .description("stop a link, whatever its owner does: it answers 404, and its clicks are still recorded")
    .argument("<link>", LINK)
    .requiredOption("--reason <text>", "the link's owner is told why")
    .option("--legal", "the law demands it: answer 451 instead of 404")
    .option("--json", "print one JSON document")
    .action(
      (text: string, { reason, legal = false, ...options }: Json & { reason: string; legal?: boolean }) =>
        runCommand(options, async ({ deps, context, config }) => {
          const address = namedLink(text, config.baseHost);
          const { position } = await blockLink(deps, context, address, { reason, legal });
          return { ...address, blocked: true, position };
        }),
    );

  link
    .command("unblock")
    .description("let a blocked link be what its owner made of it")
    .argument("<link>", LINK)
    .option("--json", "print one JSON document")
    .action((text: string, options: Json) =>
      runCommand(options, async ({ deps, context, config }) => {
        const address = namedLink(text, config.baseHost);
        const { position } = await unblockLink(deps, context, address);
        return { ...address, blocked: false, position };
      }),
    );

  link
    .command("show")
    .description("its state, owner, destination and history")
    .argument("<link>", LINK)
    .option("--json", "print one JSON document")
    .action((text: string, options: Json) =>
      runReading(options, async ({ deps, config }) => {
        const { host, slug } = namedLink(text, config.baseHost);
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
      }),
    );
}

function stepRow({ type, at, actor, to, blocked, withdrawn }: LinkStep) {
  const { reason } = blocked ?? withdrawn ?? {};
  return { at, type, by: actorKey(actor), ...(to !== undefined && { to }), ...(reason && { reason }) };
}
