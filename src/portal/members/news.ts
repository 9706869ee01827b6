// What somebody has to know of at the dashboard: a changed role, password or way to sign in, until they dismiss it or a week is over.
import type { FastifyRequest } from "fastify";
import type { Api } from "../../api/fastify.ts";
import type { News } from "../../projections/definitions/persons.ts";
import { newsOf } from "../../queries/people.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { postButton, time } from "../shell/layout.ts";
import { signedIn } from "../shell/sessions.ts";

const WEEK_SECONDS = 7 * 86_400;

const TEXTS: Readonly<Record<News["type"], (account: HtmlValue, news: News) => HtmlValue>> = {
  MemberRoleChanged: (account, { role }) => html`You are ${role} of ${account} now.`,
  MemberRemoved: (account) => html`You are no longer a member of ${account}.`,
  PasskeyAdded: () => newWay("A passkey was added"),
  IdentityLinked: () => newWay("A sign-in at the provider was linked"),
  PasswordChanged: () =>
    html`Your password was changed. If that wasn’t you, <a href="/portal/reset">choose another one</a> at once.`,
};

function newWay(what: string): Html {
  return html`${what}, by which you sign in from now on. If that wasn’t you, <a href="/portal/profile">remove it</a> at once.`;
}

/** Empty where there is nothing. */
export async function newsBox(deps: PortalDeps, request: FastifyRequest): Promise<Html | undefined> {
  const { personId } = signedIn(request);
  const since = request.cookies[request.visit.cookies.newsSeen(personId)] ?? "";
  const news = await newsOf(deps, personId, since);
  if (news.length === 0) return undefined;
  return html`<div class="notice notice-info" role="status"><ul class="stack">${news.map(
    (item) =>
      html`<li>${time(item.at)}: ${TEXTS[item.type](html`<strong>${item.account}</strong>`, item)}</li>`,
  )}</ul>${postButton("/portal/news/dismiss", "Dismiss", { kind: "small" })}</div>`;
}

export function newsForm(app: Api, deps: PortalDeps): void {
  formRoute(app, deps, "/news/dismiss", {
    count: "uncounted",
    run: async ({ request, reply, person: { personId } }) => {
      const { newsSeen, options } = request.visit.cookies;
      const seenAt = deps.clock().toISOString();
      reply.setCookie(newsSeen(personId), seenAt, { ...options, maxAge: WEEK_SECONDS });
      return {};
    },
    path: "/portal",
  });
}
