// GET /portal/account: e-mail address, password, sessions, data export, closing the account.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Api } from "../../api/fastify.ts";
import { PASSWORD_MIN } from "../../commands/account/password.ts";
import type { Refused } from "../../runtime/refused.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { confirmed, field, time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, type SessionOfAccount, type Sessions, signedIn } from "../shell/sessions.ts";

/** `refused`: why `form` was refused, shown at its fields. */
type AccountPageState = {
  form?: "email" | "password" | "close";
  refused?: Refused;
  email?: string;
};

type Deps = PortalDeps & { sessions: Sessions };

export function accountPage(app: Api, deps: Deps): void {
  app.get("/account", { preHandler: requireSession }, (request, reply) =>
    sendAccountPage(deps, request, reply, {}),
  );
}

export async function sendAccountPage(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  state: AccountPageState,
): Promise<FastifyReply> {
  const { accountId, email, sessionId } = signedIn(request);
  const sessions = await deps.sessions.list(accountId);
  return sendPage(reply, {
    title: "Account",
    nav: "Account",
    status: state.refused ? 400 : 200,
    body: html`<div class="page-head"><div><h1>Account</h1><p class="muted">${email} · <code>${accountId}</code></p></div></div>
<div class="grid">${emailCard(state, email, deps.mailer !== undefined)}${passwordCard(state, email)}</div>
${sessionsCard(sessions, sessionId)}
${dataCard}
${closeCard(state, email)}`,
  });
}

/** The message of a refused `form`, for the field that `codes` belong to. */
function errorOn(state: AccountPageState, form: AccountPageState["form"], ...codes: string[]) {
  const { refused } = state;
  return refused && state.form === form && codes.includes(refused.code) ? refused.message : undefined;
}

function emailCard(state: AccountPageState, email: string, withMail: boolean): Html {
  return html`<section class="card" id="email"><h2>E-mail address</h2>
<form method="post" action="/portal/account/email" class="form">
${field({
  ...{ id: "new-email", label: "New address", name: "email", type: "email", autocomplete: "email" },
  ...{ required: true, maxlength: 254, value: state.form === "email" ? state.email : undefined },
  hint: withMail ? "It counts once you have followed the link we send there." : undefined,
  error: errorOn(state, "email", "invalid_email", "email_taken"),
})}
${passwordField("email-password", email, errorOn(state, "email", "wrong_password"))}
<div><button class="button">Change address</button></div></form></section>`;
}

function passwordCard(state: AccountPageState, email: string): Html {
  return html`<section class="card" id="password"><h2>Password</h2>
<form method="post" action="/portal/account/password" class="form">
${passwordField("current-password", email, errorOn(state, "password", "wrong_password"))}
${field({
  ...{ id: "new-password", label: "New password", name: "wanted", type: "password" },
  ...{ autocomplete: "new-password", required: true, minlength: PASSWORD_MIN },
  hint: `At least ${PASSWORD_MIN} characters. You are signed out everywhere else.`,
  error: errorOn(state, "password", "password_refused"),
})}
<div><button class="button">Change password</button></div></form></section>`;
}

/** With a hidden user name field, by which password managers find the account. */
function passwordField(id: string, email: string, error: string | undefined): Html {
  const about = { label: "Your current password", name: "password", type: "password" } as const;
  return html`<input type="text" name="username" autocomplete="username" value="${email}" hidden>
${field({ id, ...about, autocomplete: "current-password", required: true, error })}`;
}

function sessionsCard(sessions: readonly SessionOfAccount[], current: string): Html {
  return html`<section class="card" id="sessions"><div class="card-head"><h2>Where you are signed in</h2>
${confirmed(
  "Sign out everywhere",
  html`<p>Ends every session, this one too. API keys go on working.</p>`,
  html`<form method="post" action="/portal/account/sessions/end-all"><button class="button button-danger">Sign out everywhere</button></form>`,
)}</div>
<table class="table"><thead><tr><th scope="col">Browser</th><th scope="col">Network</th><th scope="col">Signed in</th><th scope="col">Last seen</th><th scope="col" class="end"><span class="visually-hidden">Actions</span></th></tr></thead>
<tbody>${sessions.map(
    (session) => html`<tr><td><strong>${session.browser}</strong></td>
<td data-label="Network">${session.address || "unknown"}</td>
<td data-label="Signed in">${time(session.createdAt)}</td>
<td data-label="Last seen">${time(session.seenAt)}</td>
<td class="end">${
      session.sessionId === current
        ? html`<span class="badge badge-good">This browser</span>`
        : html`<form method="post" action="/portal/account/sessions/${session.sessionId}/end"><button class="button button-small" aria-label="Sign out ${session.browser}">Sign out</button></form>`
    }</td></tr>`,
  )}</tbody></table></section>`;
}

const dataCard = html`<section class="card" id="data"><h2>Your data</h2>
<p class="muted">Everything the log holds of you, event by event: the account, its keys and domains, every link and every click, as lines of JSON.</p>
<div><a class="button" href="/portal/account/export" download>${icon("download")}Export my data</a></div></section>`;

function closeCard(state: AccountPageState, email: string): Html {
  return html`<section class="card card-danger" id="close"><h2>Close account</h2>
<p class="muted">Your keys stop at once, your links no longer redirect, your domains and webhooks are removed, and your e-mail address is erased. This can't be undone: export your data first.</p>
<form method="post" action="/portal/account/close" class="form-row">
${passwordField("close-password", email, errorOn(state, "close", "wrong_password"))}
<button class="button button-danger">Close my account for good</button></form></section>`;
}
