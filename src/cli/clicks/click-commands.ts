// linkledger clicks withdraw | restore | withdrawals
import type { Command } from "commander";
import { type FindMatching, matchingClicks } from "../../commands/withdrawals/matching-clicks.ts";
import {
  listWithdrawals,
  previewWithdrawal,
  restoreClicks,
  withdrawClicks,
} from "../../commands/withdrawals/withdraw-clicks.ts";
import { previewRow, withdrawalRow } from "../../queries/audit/withdrawal-rows.ts";
import { DomainError } from "../../runtime/errors.ts";
import { timeArgument } from "../arguments.ts";
import { LINK, linkNamed } from "../link-name.ts";
import { type Json, runCommand, runReading, type Session } from "../session.ts";

class ReasonRequired extends DomainError {
  override readonly code = "reason_required";
}

type WithdrawOptions = Json & {
  from: Date;
  to?: Date;
  visitor?: string;
  ipPrefix?: string;
  userAgent?: string;
  reason?: string;
  dryRun?: boolean;
};

export function clickCommands(program: Command): void {
  const clicks = program
    .command("clicks")
    .description("take clicks out of the numbers, such as test clicks or fraud (docs/corrections.md)");

  clicks
    .command("withdraw")
    .description("no longer count clicks of a link that are recorded by now; their events stay")
    .argument("<link>", LINK)
    .requiredOption(
      "--from <time>",
      "that happened at or after this ISO 8601 date or time, UTC",
      timeArgument,
    )
    .option("--to <time>", "that happened before it; by default now", timeArgument)
    .option("--visitor <code>", "only of this visitor code, as exports show it")
    .option("--ip-prefix <network>", "only from this network, such as 203.0.113.0/24")
    .option("--user-agent <text>", "only with a user agent that contains this, in any case")
    .option("--reason <text>", "why; the link's owner sees it")
    .option("--dry-run", "show what would go, and change nothing")
    .option("--json", "print one JSON document")
    .action((text: string, options: WithdrawOptions) =>
      runCommand(options, (session) => withdrawn(session, text, options)),
    );

  clicks
    .command("restore")
    .description("count the clicks of a withdrawal again")
    .argument("<link>", LINK)
    .argument("<withdrawal-id>")
    .option("--json", "print one JSON document")
    .action((text: string, withdrawalId: string, options: Json) =>
      runCommand(options, async (session) => {
        const { deps, context } = session;
        const { position } = await restoreClicks(deps, context, linkNamed(session, text), withdrawalId);
        return { withdrawal_id: withdrawalId, restored: true, position };
      }),
    );

  clicks
    .command("withdrawals")
    .description("the withdrawals of a link, those taken back too")
    .argument("<link>", LINK)
    .option("--json", "print one JSON document")
    .action((text: string, options: Json) =>
      runReading(options, async (session) => {
        const made = await listWithdrawals(session.deps, linkNamed(session, text));
        return { withdrawals: made.map(withdrawalRow) };
      }),
    );
}

async function withdrawn(session: Session, text: string, options: WithdrawOptions) {
  const { deps: given, context } = session;
  const find: FindMatching = (...args) => matchingClicks(given, ...args);
  const deps = { ...given, matchingClicks: find };
  const address = linkNamed(session, text);
  const { reason, dryRun, json: _, ...request } = options;
  if (dryRun) {
    return { dry_run: true, ...previewRow(await previewWithdrawal(deps, address, request)) };
  }
  if (reason === undefined) throw new ReasonRequired("--reason is required: the link's owner is told why");
  const made = await withdrawClicks(deps, context, address, { ...request, reason });
  const { withdrawalId, position } = made;
  return { withdrawal_id: withdrawalId, position, ...previewRow(made) };
}
