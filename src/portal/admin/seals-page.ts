// GET /admin/seals: the seals of the log, and its last verification with the button for another one.
import type { Api } from "../../api/fastify.ts";
import type { VerificationRun } from "../../audit/verification-runs.ts";
import type { ListedSeal } from "../../queries/audit/list-seals.ts";
import { questions } from "../../queries/audit/questions.ts";
import { counted } from "../links/link-view.ts";
import { type Html, html } from "../shell/html.ts";
import { badge, type Columns, copyable, postButton, table, time } from "../shell/layout.ts";
import type { ConsoleDeps } from "./access.ts";
import { eventPath, rowsCard, shortPosition, textLink } from "./answer-cells.ts";
import { questionPage } from "./question-page.ts";

export function sealsPage(app: Api, deps: ConsoleDeps): void {
  questionPage(app, deps, "/seals", questions.seals, {
    nav: "Seals",
    isLive: true,
    lead: "Signed digests of the log, every ten thousand events and after a quiet minute: a past that was changed is found.",
    async show(answer) {
      const { seals = [], sealed_up_to: upTo = null, public_key: key = "" } = answer ?? {};
      const verify = postButton("/admin/verification", "Verify every event", { kind: "primary" });
      const facts = {
        "Up to position": upTo === null ? "Nothing on this page that can be trusted" : shortPosition(upTo),
        "Public key": copyable("public-key", key, "the public key"),
      };
      return [
        { title: "Verification", body: html`${verification(await deps.verifications.read())}${verify}` },
        { title: "Sealed", facts },
        rowsCard("Seals, newest first", COLUMNS, seals, "The first comes a minute after the last event."),
      ];
    },
  });
}

const KEYS = {
  present: "this service",
  previous: "this service, earlier key",
  other: "another key",
} as const;

const COLUMNS: Columns<ListedSeal> = {
  Seal: ({ number }) => html`<a href="${eventPath("seals", number)}"><strong>${number}</strong></a>`,
  Sealed: "at",
  Events: "events",
  "Up to position": ({ position }) =>
    position !== null && html`<span class="break">${shortPosition(position)}</span>`,
  "Signed by": ({ key }) => KEYS[key],
  State: ({ problem }) => problemBadge(problem),
};

type Result = NonNullable<VerificationRun["result"]>;

/** `data-live`: live.js reloads it while `data-busy` is there. */
function verification(run: VerificationRun | undefined): Html {
  if (!run)
    return html`<div id="verification" data-live><p class="muted">The log has not been verified from here yet.</p></div>`;
  const { state, started_at, updated_at, events, result, error } = run;
  const checked = counted(events, "event");
  return html`<div id="verification" data-live ${state === "running" && html`data-busy`} class="stack">
${state === "running" && html`<p role="status">${badge("accent", "Running")} ${checked} checked so far. Begun ${time(started_at)}.</p><progress aria-label="Verification"></progress>`}
${state === "interrupted" && html`<p>${badge("warn", "Interrupted")} It ended with its process, after ${checked}.</p>`}
${state === "failed" && html`<p>${badge("bad", "Failed")} ${error}</p>`}
${
  result &&
  html`<p role="status">${verdictBadge(result)} ${checked} checked ${time(updated_at)}.</p>
<p class="break">${result.sentence}</p>
${result.problems.length > 0 && table("Problems", PROBLEMS, result.problems)}
${result.anchor && html`${copyable("anchor", result.anchor, "the anchor")}<p class="muted small">The anchor: give it to a later <code>linkledger audit verify --anchor</code>.</p>`}`
}</div>`;
}

const PROBLEMS: Columns<Result["problems"][number]> = {
  Stream: ({ stream, revision }) =>
    stream === "" || revision < 0
      ? "The log"
      : textLink(eventPath(stream, revision), `${stream}, revision ${revision}`),
  Problem: ({ check, message }) => `${check}: ${message}`,
};

/** Whether something is all right, and else what is wrong with it. */
export function problemBadge(problem: string | null): Html {
  return problem === null ? badge("good", "Good") : badge("bad", problem);
}

/** In a few words; its sentence says more. */
export function verdictBadge({ verdict }: Result): Html {
  if (verdict === "proved") return badge("good", "Proved: no changes found");
  return verdict === "problem" ? badge("bad", "Not proved") : badge("warn", "Nothing is proved yet");
}
