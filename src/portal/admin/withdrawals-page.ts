// GET /admin/withdrawals: a link's withdrawals of hits, and what another one would take out, with the forms for both ways.
import type { Api } from "../../api/fastify.ts";
import { MOST_REASON } from "../../commands/accept-text.ts";
import { type HitsOfLink, partly, questions } from "../../queries/audit/questions.ts";
import type { PreviewRow, WithdrawalRow } from "../../queries/audit/withdrawal-rows.ts";
import { hitFacts } from "../links/explain-page.ts";
import { count } from "../links/link-view.ts";
import { form } from "../shell/controls.ts";
import { type Html, html } from "../shell/html.ts";
import { type Card, type Columns, facts, postButton, table, time } from "../shell/layout.ts";
import type { ConsoleDeps } from "./access.ts";
import { rowsCard } from "./answer-cells.ts";
import { questionPage } from "./question-page.ts";

const PATH = "/admin/withdrawals";

type OfLink = { withdrawals?: WithdrawalRow[]; preview?: PreviewRow };

export function withdrawalsPage(app: Api, deps: ConsoleDeps): void {
  const preview = questions["withdrawals/preview"];
  const question = {
    args: partly(preview.args),
    async answer(_: ConsoleDeps, { link, from, ...hits }: Partial<HitsOfLink>): Promise<OfLink> {
      if (link === undefined) return {};
      const { withdrawals } = await questions.withdrawals.answer(deps, { link });
      return from === undefined
        ? { withdrawals }
        : { withdrawals, preview: await preview.answer(deps, { link, from, ...hits }) };
    },
  };
  questionPage(app, deps, "/withdrawals", question, {
    nav: "Withdrawals",
    lead: "Hits of a link that no longer count, such as tests or fraud. Their events stay, and each withdrawal can be taken back.",
    find: "Show",
    show: ({ withdrawals, preview: hits }: OfLink = {}, { link = "" }) => [
      hits && previewCard(hits, link),
      withdrawals &&
        rowsCard("Withdrawals of this link, newest first", columns(link), withdrawals.toReversed(), NONE),
    ],
  });
}

const NONE = "No hit of this link was ever withdrawn.";
const hint = "The link's owner sees it in the link's history.";
const REASON = {
  reason: { label: "Reason", required: true, maxlength: MOST_REASON, autocomplete: "off", hint },
};

const SAMPLES: Columns<PreviewRow["samples"][number]> = {
  Happened: "at",
  Kind: "kind",
  From: ({ country, ip }) => html`${country} <span class="muted small">${ip}</span>`,
  "User agent": "user_agent",
};

function previewCard(preview: PreviewRow, link: string): Card {
  const { clicks, withdrawn_before: before, kinds, days, samples } = preview;
  const { from, to, visitor, ip_prefix, user_agent } = preview;
  const byDay = Object.entries(days).map(([day, hits]) => [`On ${day}`, count(hits)] as const);
  const filters = Object.entries({ link, from, to, visitor, ip_prefix, user_agent });
  const hidden = Object.fromEntries(filters.map(([name, value]) => [name, value ?? undefined]));
  const button = `Withdraw ${count(clicks)} hits`;
  return {
    title: `What would go: ${count(clicks)} hits`,
    lead: html`${selectionText(preview)}${before > 0 && html`. ${count(before)} more are named, and withdrawn already`}.`,
    body:
      clicks > 0 &&
      html`${facts({ ...hitFacts(kinds), ...Object.fromEntries(byDay) })}
${table("The latest of them", SAMPLES, samples)}
${form({ action: PATH, hidden, fields: REASON, button, buttonKind: "danger" })}`,
  };
}

function columns(link: string): Columns<WithdrawalRow> {
  return {
    Made: "at",
    Hits: "clicks",
    Which: (selection) => html`<span class="break">${selectionText(selection)}</span>`,
    Reason: "reason",
    State: ({ withdrawal_id, clicks, restored_at: at }) =>
      at === null
        ? postButton(`${PATH}/restore`, "Restore", {
            fields: { link, withdrawal_id },
            label: `Restore ${count(clicks)} hits`,
          })
        : html`taken back ${time(at)}`,
  };
}

type Selection = Pick<PreviewRow, "from" | "to" | "visitor" | "ip_prefix" | "user_agent">;

function selectionText({ from, to, ip_prefix, user_agent, visitor }: Selection): Html {
  return html`From ${time(from)} until ${time(to)}${ip_prefix && html`, from ${ip_prefix}`}${user_agent && html`, user agent with “${user_agent}”`}${visitor && html`, visitor ${visitor}`}`;
}
