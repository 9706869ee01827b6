// linkledger clicks withdraw | restore | withdrawals

import { restoreClicks, withdrawClicks } from "../../commands/withdrawals/withdraw-clicks.ts";
import type { FindMatching } from "../../commands/withdrawals/withdrawal.ts";
import { hitsNamed, questions } from "../../queries/audit/questions.ts";
import { previewRow } from "../../queries/audit/withdrawal-rows.ts";
import { Refused } from "../../runtime/refused.ts";
import { askedBy, auditDeps, questionCommand } from "../audit/question-commands.ts";
import { type CommandRow, option } from "../command.ts";
import { LINK, linkNamed } from "../named.ts";
import type { Session } from "../session.ts";

const WITHDRAW = "withdraw <link>";
const preview = questions["withdrawals/preview"];
const hits = askedBy(preview.args, WITHDRAW);

type Chosen = { reason?: string; dryRun?: boolean };

export const commands: readonly CommandRow[] = [
  {
    name: WITHDRAW,
    about: "no longer count hits of a link that are recorded by now; their events stay",
    args: hits.args,
    options: [
      ...hits.options,
      option("--reason <text>", "why; the link's owner sees it"),
      option("--dry-run", "show what would go, and change nothing"),
    ],
    run: withdrawn,
  },
  {
    name: "restore <link> <withdrawal-id>",
    about: "count the hits of a withdrawal again",
    args: { link: LINK },
    async run(session, _: object, text: string, withdrawalId: string) {
      const { deps, context } = session;
      const { position } = await restoreClicks(deps, context, linkNamed(session, text), withdrawalId);
      return { withdrawal_id: withdrawalId, restored: true, position };
    },
    print: ({ withdrawal_id }: { withdrawal_id: string }) =>
      `The hits of withdrawal ${withdrawal_id} count again`,
  },
  questionCommand(questions.withdrawals, {
    name: "withdrawals <link>",
    about: "the withdrawals of a link, those taken back too",
  }),
];

async function withdrawn(session: Session, { reason, dryRun, ...chosen }: Chosen, text: string) {
  const given = auditDeps(session);
  const matchingClicks: FindMatching = (...asked) =>
    session.work.interruptible(
      () => "Nothing was withdrawn",
      () => given.matchingClicks(...asked),
    );
  const deps = { ...given, matchingClicks };
  const { link, ...request } = hits.from(chosen, [text]);
  if (dryRun) return { dry_run: true, ...(await preview.answer(deps, { link, ...request })) };
  if (reason === undefined)
    throw new Refused("reason_required", "--reason is required: the link's owner is told why");
  const wanted = { ...hitsNamed(request), reason };
  const made = await withdrawClicks(deps, session.context, linkNamed(session, link), wanted);
  return { withdrawal_id: made.withdrawalId, position: made.position, ...previewRow(made) };
}
