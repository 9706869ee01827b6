// GET /admin/people: who signs in, found by what names them, with what they are a member of, and what the operator can do.
import type { Api } from "../../api/fastify.ts";
import { questions } from "../../queries/audit/questions.ts";
import type { PersonRow } from "../../queries/people.ts";
import { html } from "../shell/html.ts";
import { badge, type Columns, confirmedPost, postButton, time } from "../shell/layout.ts";
import type { ConsoleDeps } from "./access.ts";
import { accountPath, eventsPath, rowsCard, textLink } from "./answer-cells.ts";
import { questionPage } from "./question-page.ts";

export function peoplePage(app: Api, deps: ConsoleDeps): void {
  questionPage(app, deps, "/people", questions.people, {
    nav: "People",
    lead: "Who signs in, newest first. What names them is in no event: it is read from the secrets.",
    find: "Find",
    show: (answer) => [rowsCard("People", PEOPLE, answer?.people ?? [], "Nobody.")],
  });
}

const PEOPLE: Columns<PersonRow> = {
  Person: ({ person_id, name, email, email_proven, is_operator }) =>
    html`${textLink(eventsPath({ actor: `person:${person_id}` }), html`<strong>${name}</strong>`)}${is_operator && html` ${badge("accent", "Operator")}`}
${email !== null && html`<br><span class="muted small break">${email !== name && `${email}, `}${email_proven ? "address proven" : "address not proven"}</span>`}`,
  Accounts: ({ accounts }) =>
    accounts.map(
      ({ account_id, account, role }) =>
        html`<div>${textLink(accountPath(account_id), account)} ${role}</div>`,
    ),
  Registered: "registered_at",
  "Last sign-in": ({ last_sign_in: last }) => last && html`${time(last.at)} by ${last.way}`,
  Actions: ({ person_id, name, removed_at }) => {
    if (removed_at !== null) return html`removed ${time(removed_at)}`;
    const path = `/admin/people/${person_id}`;
    const effect = html`What names <strong>${name}</strong> is destroyed for good: address, name, and ways to sign in. Their memberships and their own keys end. This can't be undone.`;
    return html`<div class="actions">${postButton(`${path}/end-sessions`, "Sign out everywhere")}
${confirmedPost("Remove", effect, `${path}/remove`, "Remove for good")}</div>`;
  },
};
