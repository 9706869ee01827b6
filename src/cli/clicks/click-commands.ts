// linkledger clicks withdraw | restore | withdrawals
import { type FindMatching, matchingClicks } from "../../commands/withdrawals/matching-clicks.ts";
import {
  listWithdrawals,
  previewWithdrawal,
  restoreClicks,
  withdrawClicks,
} from "../../commands/withdrawals/withdraw-clicks.ts";
import { previewRow, withdrawalRow } from "../../queries/audit/withdrawal-rows.ts";
import { DomainError } from "../../runtime/errors.ts";
import { type CommandRow, option, required, timeArgument } from "../command.ts";
import { LINK, linkNamed } from "../named.ts";
import { runReading, type Session } from "../session.ts";

class ReasonRequired extends DomainError {
  override readonly code = "reason_required";
}

type WithdrawOptions = {
  from: Date;
  to?: Date;
  visitor?: string;
  ipPrefix?: string;
  userAgent?: string;
  reason?: string;
  dryRun?: boolean;
};

const args = { link: LINK };

export const clickCommands: readonly CommandRow[] = [
  {
    name: "withdraw <link>",
    about: "no longer count hits of a link that are recorded by now; their events stay",
    args,
    options: [
      required("--from <time>", "that happened at or after this ISO 8601 date or time, UTC", timeArgument),
      option("--to <time>", "that happened before it; by default now", timeArgument),
      option("--visitor <code>", "only of this visitor code, as exports show it"),
      option("--ip-prefix <network>", "only from this network, such as 203.0.113.0/24"),
      option("--user-agent <text>", "only with a user agent that contains this, in any case"),
      option("--reason <text>", "why; the link's owner sees it"),
      option("--dry-run", "show what would go, and change nothing"),
    ],
    run: withdrawn,
  },
  {
    name: "restore <link> <withdrawal-id>",
    about: "count the hits of a withdrawal again",
    args,
    async run(session, _: object, text: string, withdrawalId: string) {
      const { deps, context } = session;
      const { position } = await restoreClicks(deps, context, linkNamed(session, text), withdrawalId);
      return { withdrawal_id: withdrawalId, restored: true, position };
    },
    print: ({ withdrawal_id }: { withdrawal_id: string }) =>
      `The hits of withdrawal ${withdrawal_id} count again`,
  },
  {
    name: "withdrawals <link>",
    about: "the withdrawals of a link, those taken back too",
    args,
    by: runReading,
    async run(session, _: object, text: string) {
      const made = await listWithdrawals(session.deps, linkNamed(session, text));
      return { withdrawals: made.map(withdrawalRow) };
    },
  },
];

async function withdrawn(session: Session, options: WithdrawOptions, text: string) {
  const { deps: given, context } = session;
  const find: FindMatching = (...args) =>
    session.work.interruptible(
      () => "Nothing was withdrawn",
      () => matchingClicks(given, ...args),
    );
  const deps = { ...given, matchingClicks: find };
  const address = linkNamed(session, text);
  const { reason, dryRun, ...request } = options;
  if (dryRun) {
    return { dry_run: true, ...previewRow(await previewWithdrawal(deps, address, request)) };
  }
  if (reason === undefined) throw new ReasonRequired("--reason is required: the link's owner is told why");
  const made = await withdrawClicks(deps, context, address, { ...request, reason });
  const { withdrawalId, position } = made;
  return { withdrawal_id: withdrawalId, position, ...previewRow(made) };
}
