// GET /portal/account: e-mail address, password, sessions, data export, closing the account.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Api } from "../../api/fastify.ts";
import { PASSWORD_MIN } from "../../commands/account/password.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { field } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import {
  type Columns,
  card,
  confirmedPost,
  formCard,
  pageHead,
  postButton,
  table,
  time,
} from "../shell/parts.ts";
import { errorOf, noticeOf, type RefusedForm, typedText } from "../shell/refused-form.ts";
import { requireSession, type SessionOfAccount, type Sessions, signedIn } from "../shell/sessions.ts";
import { brandCard, brandOf } from "./brand-card.ts";
import { logoCard } from "./logo-forms.ts";
import { zoneCard } from "./zone-card.ts";

export type AccountForm = "brand" | "logo" | "zone" | "email" | "password" | "close";

type Deps = PortalDeps & { sessions: Sessions };

export function accountPage(app: Api, deps: Deps): void {
  app.get("/account", { preHandler: requireSession }, (request, reply) =>
    sendAccountPage(deps, request, reply),
  );
}

/** `form`: the one that was refused. */
export async function sendAccountPage(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  form?: AccountForm,
  refused?: RefusedForm,
): Promise<FastifyReply> {
  const { accountId, email, timeZone, sessionId } = signedIn(request);
  const [sessions, brand] = await Promise.all([deps.sessions.list(accountId), brandOf(deps, accountId)]);
  const at = (other: AccountForm) => (other === form ? refused : undefined);
  return sendPage(reply, {
    title: "Account",
    nav: "Account",
    status: refused?.status,
    notice:
      refused &&
      noticeOf(refused, "name", "colour", "url", "logo", "timezone", "email", "password", "current_password"),
    body: html`${pageHead("Account", { lead: html`${email} · <code>${accountId}</code>` })}
<div class="grid">${emailCard(email, deps.mailer !== undefined, at("email"))}${passwordCard(email, at("password"))}</div>
${brand !== undefined && html`${brandCard(brand, at("brand"))}${logoCard(brand?.logo ?? null, at("logo"))}`}
${zoneCard(timeZone, at("zone"))}
${sessionsCard(sessions, sessionId)}
${dataCard}
${closeCard(email, at("close"))}`,
  });
}

function emailCard(email: string, withMail: boolean, refused: RefusedForm | undefined): Html {
  const address = field({
    id: "new-email",
    label: "New address",
    name: "email",
    type: "email",
    autocomplete: "email",
    required: true,
    maxlength: 254,
    value: refused && typedText(refused.typed, "email"),
    hint: withMail ? "It counts once you have followed the link we send there." : undefined,
    error: errorOf(refused, "email"),
  });
  return formCard("E-mail address", {
    action: "/portal/account/email",
    button: "Change address",
    fields: html`${address}${passwordField("email-password", email, refused)}`,
  });
}

function passwordCard(email: string, refused: RefusedForm | undefined): Html {
  const wanted = field({
    id: "new-password",
    label: "New password",
    name: "wanted",
    type: "password",
    autocomplete: "new-password",
    required: true,
    minlength: PASSWORD_MIN,
    hint: `At least ${PASSWORD_MIN} characters. You are signed out everywhere else.`,
    error: errorOf(refused, "password"),
  });
  return formCard("Password", {
    action: "/portal/account/password",
    button: "Change password",
    fields: html`${passwordField("current-password", email, refused)}${wanted}`,
  });
}

/** With a hidden user name field, by which password managers find the account. */
function passwordField(id: string, email: string, refused: RefusedForm | undefined): Html {
  const about = { label: "Your current password", name: "password", type: "password" } as const;
  const error = errorOf(refused, "current_password");
  return html`<input type="text" name="username" autocomplete="username" value="${email}" hidden>
${field({ id, ...about, autocomplete: "current-password", required: true, error })}`;
}

function sessionsCard(sessions: readonly SessionOfAccount[], current: string): Html {
  const title = "Where you are signed in";
  const end = ({ sessionId, browser }: SessionOfAccount) =>
    sessionId === current
      ? html`<span class="badge badge-good">This browser</span>`
      : postButton(`/portal/account/sessions/${sessionId}/end`, "Sign out", {
          kind: "small",
          label: `Sign out ${browser}`,
        });
  const columns: Columns<SessionOfAccount> = {
    Browser: ({ browser }) => html`<strong>${browser}</strong>`,
    Network: ({ address }) => address || "unknown",
    "Signed in": ({ createdAt }) => time(createdAt),
    "Last seen": ({ seenAt }) => time(seenAt),
    Actions: { isHidden: true, end: true, cell: end },
  };
  const actions = confirmedPost(
    "Sign out everywhere",
    "Ends every session, this one too. API keys go on working.",
    "/portal/account/sessions/end-all",
    "Sign out everywhere",
  );
  return card(title, table(title, columns, sessions), { actions });
}

const dataCard = card(
  "Your data",
  html`<div><a class="button" href="/portal/account/export" download>${icon("download")}Export my data</a></div>`,
  {
    lead: "Everything the log holds of you, event by event: the account, its keys and domains, every link and every click, as lines of JSON.",
  },
);

function closeCard(email: string, refused: RefusedForm | undefined): Html {
  return formCard("Close account", {
    kind: "danger",
    action: "/portal/account/close",
    isRow: true,
    buttonKind: "danger",
    button: "Close my account for good",
    lead: "Your keys stop at once, your links no longer redirect, your domains and webhooks are removed, and your e-mail address is erased. This can't be undone: export your data first.",
    fields: passwordField("close-password", email, refused),
  });
}
