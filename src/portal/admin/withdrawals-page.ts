// GET /admin/withdrawals: a link's withdrawals of hits, and what another one would take out, with the forms for both ways.
import type { Api } from "../../api/fastify.ts";
import { MOST_REASON } from "../../commands/accept-text.ts";
import { type HitsOfLink, partly, questions } from "../../queries/audit/questions.ts";
import type {
  PreviewRow as Preview,
  WithdrawalRow as Withdrawal,
} from "../../queries/audit/withdrawal-rows.ts";
import { hitFacts } from "../links/explain-page.ts";
import { count } from "../links/link-view.ts";
import { field, hiddenFields } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { type Columns, facts, postButton, time } from "../shell/parts.ts";
import type { ConsoleDeps } from "./access.ts";
import { questionPage } from "./question-page.ts";
import { rowTable, tableCard } from "./view.ts";

const PATH = "/admin/withdrawals";

type Found = { made?: Withdrawal[]; preview?: Preview };

export function withdrawalsPage(app: Api, deps: ConsoleDeps): void {
  const preview = questions["withdrawals/preview"];
  const args = {
    args: partly(preview.args),
    async answer(_: ConsoleDeps, { link, from, ...hits }: Partial<HitsOfLink>): Promise<Found> {
      if (link === undefined) return {};
      const { withdrawals: made } = await questions.withdrawals.answer(deps, { link });
      return from === undefined
        ? { made }
        : { made, preview: await preview.answer(deps, { link, from, ...hits }) };
    },
  };
  questionPage(app, deps, "/withdrawals", args, {
    find: "Show",
    show: ({ made, preview: found }: Found = {}, { link = "" }) => ({
      nav: "Withdrawals",
      title: "Withdrawals",
      lead: "Hits of a link that no longer count, such as tests or fraud. Their events stay, and each withdrawal can be taken back.",
      body: html`${found && previewCard(found, link)}
${made && madeCard(made, link)}`,
    }),
  });
}

function previewCard(preview: Preview, link: string): Html {
  const { clicks, withdrawn_before: before, kinds, days, samples } = preview;
  const byDay = Object.entries(days).map(([day, hits]) => [`On ${day}`, count(hits)] as const);
  return html`<section class="card stack"><h2>What would go: ${count(clicks)} hits</h2>
<p class="muted">${selectionText(preview)}${before > 0 && html`. ${count(before)} more are named, and withdrawn already`}.</p>
${
  clicks > 0 &&
  html`${facts({ ...hitFacts(kinds), ...Object.fromEntries(byDay) })}
${rowTable("The latest of them", samples, {
  Happened: "at",
  Kind: "kind",
  From: ({ country, ip }) => html`${country} <span class="muted small">${ip}</span>`,
  "User agent": "user_agent",
})}
${withdrawForm(preview, link)}`
}</section>`;
}

function withdrawForm({ clicks, from, to, visitor, ip_prefix, user_agent }: Preview, link: string): Html {
  const filters = Object.entries({ link, from, to, visitor, ip_prefix, user_agent });
  const kept = Object.fromEntries(filters.map(([name, value]) => [name, value ?? undefined]));
  return html`<form method="post" action="${PATH}" class="stack">${hiddenFields(kept)}
${field({ label: "Reason", name: "reason", required: true, maxlength: MOST_REASON, autocomplete: "off", hint: "The link's owner sees it in the link's history." })}
<div><button class="button button-danger">Withdraw ${count(clicks)} hits</button></div></form>`;
}

function madeCard(made: readonly Withdrawal[], link: string): Html {
  const columns: Columns<Withdrawal> = {
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
  const none = ["No withdrawals", "No hit of this link was ever withdrawn."] as const;
  return tableCard("Withdrawals of this link, newest first", made.toReversed(), columns, none);
}

type Selection = Pick<Preview, "from" | "to" | "visitor" | "ip_prefix" | "user_agent">;

function selectionText({ from, to, ip_prefix, user_agent, visitor }: Selection): Html {
  return html`From ${time(from)} until ${time(to)}${ip_prefix && html`, from ${ip_prefix}`}${user_agent && html`, user agent with “${user_agent}”`}${visitor && html`, visitor ${visitor}`}`;
}
