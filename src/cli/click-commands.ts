// linkledger clicks withdraw | restore | withdrawals | why

import { existing } from "../commands/links/link.ts";
import { currentLink, type LinkAddress } from "../commands/links/link-stream.ts";
import type { FindMatching } from "../commands/withdrawals/decide-withdrawal.ts";
import { restoreClicks, withdrawClicks } from "../commands/withdrawals/withdraw-clicks.ts";
import { linkKey } from "../events/streams.ts";
import { changesOfNumbers, changesRow } from "../queries/analytics/changes/changes-of-numbers.ts";
import { type ChangesParameters, changesRequest } from "../queries/analytics/changes/changes-request.ts";
import { tableReader } from "../queries/analytics/counting/table-reader.ts";
import { whenCounted } from "../queries/analytics/when-counted.ts";
import { hitsNamed, questions } from "../queries/audit/questions.ts";
import { previewRow } from "../queries/audit/withdrawal-rows.ts";
import { Failure } from "../runtime/errors.ts";
import { askedBy, auditDeps, questionCommand } from "./audit/question-commands.ts";
import { type CommandRow, option, required } from "./command.ts";
import { LINK, LINK_ADDRESS, linkNamed } from "./named.ts";
import { asQuery, type Session } from "./session.ts";

const WITHDRAW = "withdraw <link>";
const preview = questions["withdrawals/preview"];
const hits = askedBy(preview.args, WITHDRAW);

type WithdrawOptions = { reason?: string; dryRun?: boolean };

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
  {
    name: "why <link>",
    about: "why the numbers of a link changed between two moments",
    args: { link: LINK_ADDRESS },
    options: [
      required("--since <moment>", "the earlier moment: a time, or a position of the log"),
      option("--until <moment>", "the later one; by default now"),
      option("--from <time>", "only hits that happened at or after this time"),
      option("--to <time>", "only hits that happened before this time"),
      option("--whole-account", "the numbers of all links of its account"),
    ],
    by: asQuery,
    run: why,
  },
];

type Moments = ChangesParameters & { wholeAccount?: boolean };

async function why({ deps }: Session, { wholeAccount, ...moments }: Moments, address: LinkAddress) {
  const { accountId, host, slug } = existing(await currentLink(deps.eventStore, address));
  const request = await changesRequest(deps, moments, deps.clock());
  const filters = wholeAccount ? {} : { link: [linkKey(host, slug)] };
  const reading = { ...deps, reader: tableReader(deps), counted: whenCounted(deps) };
  return changesRow(await changesOfNumbers(reading, { accountId, filters, ...request }));
}

async function withdrawn(session: Session, { reason, dryRun, ...search }: WithdrawOptions, text: string) {
  const reading = auditDeps(session);
  const matchingClicks: FindMatching = (...clicks) =>
    session.work.interruptible(
      () => "Nothing was withdrawn",
      () => reading.matchingClicks(...clicks),
    );
  const deps = { ...reading, matchingClicks };
  const { link, ...request } = hits.from(search, [text]);
  if (dryRun) return { dry_run: true, ...(await preview.answer(deps, { link, ...request })) };
  if (reason === undefined) throw new Failure("--reason is required: the link's owner is told why");
  const named = { ...hitsNamed(request), reason };
  const withdrawal = await withdrawClicks(deps, session.context, linkNamed(session, link), named);
  const { withdrawalId, position } = withdrawal;
  return { withdrawal_id: withdrawalId, position, ...previewRow(withdrawal) };
}
