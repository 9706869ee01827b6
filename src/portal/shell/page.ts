// Layout of every page: head, navigation, notices; works without scripts.
import type { FastifyReply } from "fastify";
import { saidBehindMs } from "../../api/documents-behind-header.ts";
import { addressedText, addressIn } from "../account-address.ts";
import { mayAsk } from "../route-rights.ts";
import { fieldsOf, isRefusedForm } from "./controls.ts";
import { type Html, type HtmlValue, html, htmlText } from "./html.ts";
import { type IconName, icon } from "./icons.ts";
import { type Cards, cards, formsOf, type PageHead, pageHead } from "./layout.ts";
import { noticeOf, type RefusedForm } from "./refused-form.ts";
import type { Notice, PortalVisit, THEMES } from "./request-visit.ts";

type Entry = { name: string; path: string; icon: IconName };

const NAVIGATION = {
  "/portal": [
    { name: "Dashboard", path: "/portal", icon: "home" },
    { name: "Analytics", path: "/portal/analytics", icon: "chart" },
    { name: "Links", path: "/portal/links", icon: "link" },
    { name: "API keys", path: "/portal/keys", icon: "key" },
    { name: "Domains", path: "/portal/domains", icon: "globe" },
    { name: "Webhooks", path: "/portal/webhooks", icon: "send" },
    { name: "Members", path: "/portal/members", icon: "people" },
    { name: "Plan", path: "/portal/plan", icon: "star" },
    { name: "Account", path: "/portal/account", icon: "info" },
    { name: "Profile", path: "/portal/profile", icon: "person" },
  ],
  "/admin": [
    { name: "Overview", path: "/admin", icon: "info" },
    { name: "Accounts", path: "/admin/accounts", icon: "person" },
    { name: "People", path: "/admin/people", icon: "people" },
    { name: "Sign-in", path: "/admin/provider", icon: "key" },
    { name: "Streams", path: "/admin/streams", icon: "link" },
    { name: "Find events", path: "/admin/events", icon: "search" },
    { name: "Explain a link", path: "/admin/explain", icon: "link" },
    { name: "Hits", path: "/admin/clicks", icon: "chart" },
    { name: "Withdrawals", path: "/admin/withdrawals", icon: "pause" },
    { name: "Seals", path: "/admin/seals", icon: "check" },
    { name: "Projections", path: "/admin/projections", icon: "clock" },
  ],
} as const satisfies Record<PortalVisit["home"], readonly Entry[]>;

type NavigationName = (typeof NAVIGATION)["/portal"][number]["name"];
export type ConsoleName = (typeof NAVIGATION)["/admin"][number]["name"];

declare module "fastify" {
  interface FastifyContextConfig {
    /**
     * Of a page that strangers open by an address which nobody else is to find: for no search engine, without the scripts that
     * keep cookies, and without the way into the portal.
     */
    isForStrangers?: boolean;
  }
}

type PageOptions = {
  title: string;
  /** Undefined on pages without navigation, such as sign-in. */
  nav?: NavigationName | ConsoleName | undefined;
  /** Below a head; on narrow pages the title of the first one is the page's. Or a `body` of its own. */
  cards?: Cards;
  /** In the head, by default the title. */
  heading?: HtmlValue;
  body?: Html;
  /** Shown in addition to the notice of the last form. */
  notice?: Notice | undefined;
  /** The form that is shown again, by its action. Where no field on the page says why it was refused, a notice does. */
  refused?: RefusedForm | undefined;
  /** `narrow`: one centred form; `bare`: full width, as on the landing page. */
  shape?: "wide" | "narrow" | "bare" | undefined;
  /** Beside portal.js (assets.ts), as modules. */
  scripts?: readonly string[] | undefined;
  /** Default 200, or that of the refusal. */
  status?: number | undefined;
} & PageHead;

/** Pages depend on session and theme, so they are sent with `no-store`. */
export function sendPage(reply: FastifyReply, options: PageOptions): FastifyReply {
  const { visit } = reply.request;
  const { theme, assets, cookies } = visit;
  const { isForStrangers = false } = reply.request.routeOptions.config;
  const notice = isForStrangers ? undefined : visit.notice;
  if (notice) reply.clearCookie(cookies.notice, cookies.options);
  const signedIn = isForStrangers ? undefined : (visit.session ?? visit.operator);
  const behind = signedIn === undefined ? undefined : whatIsMissing(saidBehindMs(reply));
  const { shape = "wide", cards: parts, refused } = options;
  const whyRefused = refused && !isToldBeside(refused, parts) ? noticeOf(refused) : undefined;
  const head = shape === "wide" && pageHead(options.heading ?? options.title, options);
  const notices = [notice, options.notice, whyRefused, behind].filter((shown) => shown !== undefined);
  const scripts = [...(isForStrangers ? [] : ["portal.js"]), ...(options.scripts ?? [])];
  if (isForStrangers) reply.header("x-robots-tag", "noindex, nofollow");
  const { session } = visit;
  const isOffered = session && ((action: string) => mayAsk(session.role, "POST", action));
  const page = html`<!doctype html>
<html lang="en" data-theme="${theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${isForStrangers && html`<meta name="robots" content="noindex, nofollow">\n`}<title>${options.title} · Linkledger</title>
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
${["tokens.css", "components.css"].map((file) => html`<link rel="stylesheet" href="${assets.url(file)}">\n`)}
${scripts.map((file) => html`<script type="module" src="${assets.url(file)}"></script>\n`)}
</head>
<body>
<a class="visually-hidden" href="#main">Skip to content</a>
${isForStrangers ? plainHeader : header(reply)}
${options.nav && signedIn && navigation(options.nav, visit)}
<main id="main" class="main main-${shape}" tabindex="-1">
${notices.map(noticeBox)}
${parts ? html`${head}${cards(parts, shape === "narrow" ? "h1" : "h2", refused)}` : options.body}
</main>
${footer(!isForStrangers)}
</body>
</html>
`;
  const text = htmlText(page, isOffered);
  return reply
    .code(options.status ?? refused?.status ?? 200)
    .header("cache-control", "no-store")
    .type("text/html; charset=utf-8")
    .send(session ? addressedText(text, session) : text);
}

/** By a field of a form on the page. */
function isToldBeside(refused: RefusedForm, parts: Cards = []): boolean {
  const forms = formsOf(parts).filter((form) => isRefusedForm(form, refused));
  const fields = forms.flatMap((form) => Object.entries(fieldsOf(form)));
  return fields.some(([name, { refusedAs = name }]) => refusedAs === refused.field);
}

/** Undefined where nothing is. */
function whatIsMissing(behindMs: number): Notice | undefined {
  if (behindMs === 0) return undefined;
  const time =
    behindMs < 120_000
      ? `${Math.round(behindMs / 1_000)} seconds`
      : `${Math.round(behindMs / 60_000)} minutes`;
  return { kind: "info", text: `Lists and numbers are ${time} behind: what came since will show by itself.` };
}

/** The entry of plans only where they are offered, and pages that the role may open. */
function navigation(
  current: NavigationName | ConsoleName,
  { home, sellsPlans, session }: Pick<PortalVisit, "home" | "sellsPlans" | "session">,
): Html {
  const label = home === "/portal" ? "Portal" : "Console";
  const shown = NAVIGATION[home].filter(
    ({ name, path }) => (name !== "Plan" || sellsPlans) && (!session || mayAsk(session.role, "GET", path)),
  );
  return html`<nav class="nav" aria-label="${label}"><ul>${shown.map(
    ({ name, path, icon: sign }) =>
      html`<li><a href="${path}" ${name === current ? html`aria-current="page"` : ""}>${icon(sign)}<span>${name}</span></a></li>`,
  )}</ul></nav>`;
}

export function noticeBox({ kind, text }: { kind: Notice["kind"]; text: HtmlValue }): Html {
  const sign = kind === "done" ? "check" : kind === "failed" ? "alert" : "info";
  return html`<div class="notice notice-${kind}" role="${kind === "failed" ? "alert" : "status"}">${icon(sign)}<p>${text}</p></div>`;
}

function header({ request }: FastifyReply): Html {
  const { visit, method, originalUrl } = request;
  const { home, session, person, accounts, operator } = visit;
  const name = person ? person.email || "You" : operator && "Operator";
  return html`<header class="header">
<a class="brand" href="${name || home === "/admin" ? home : "/"}">${icon("mark")}<span>Linkledger</span></a>
<div class="header-end">
${accounts.length > 1 && switcher(accounts, session?.accountId)}
${session && newLink}
${themeSwitch(visit, method === "GET" ? originalUrl : undefined)}
${
  name
    ? html`${person ? html`<a class="header-email" href="/portal/accounts" title="${name}: your accounts">${name}</a>` : html`<span class="header-email" title="${name}">${name}</span>`}
<form method="post" action="${home}/sign-out"><button class="button button-quiet">Sign out</button></form>`
    : home === "/portal" &&
      html`<a class="button button-quiet" href="/portal/sign-in">Sign in</a>
${visit.isSignUpOpen && html`<a class="button button-primary" href="/portal/sign-up">Sign up</a>`}`
}
</div>
</header>`;
}

function switcher(accounts: PortalVisit["accounts"], current: string | undefined): Html {
  const name = accounts.find(({ accountId }) => accountId === current)?.name ?? "Your accounts";
  return html`<details class="menu"><summary class="button button-quiet" aria-label="Account: ${name}" title="${name}">${icon("people")}<span class="clip account-name">${name}</span></summary>
<nav class="menu-box" aria-label="Your accounts">${accounts.map(
    ({ accountId, name: called }) =>
      html`<a class="button" href="${addressIn(accountId, "/portal")}" ${accountId === current && html`aria-current="true"`}>${accountId === current && icon("check")}${called}</a>`,
  )}</nav></details>`;
}

const plainHeader = html`<header class="header"><span class="brand">${icon("mark")}<span>Linkledger</span></span></header>`;

/** On phones its sign alone is shown. */
const newLink = html`<a class="button button-primary new-link" href="/portal/links/new" title="New link">${icon("plus")}<span>New link</span></a>`;

/**
 * Cycles through system, dark and light, and leads back to the page at `url`. The answer to a form has none, and a key that it
 * shows once must not be lost: there the browser stays, and portal.js changes the colours.
 */
function themeSwitch({ home, theme }: PortalVisit, url: string | undefined): Html {
  const button = (shown: (typeof THEMES)[number], sign: IconName, next: (typeof THEMES)[number]) => {
    const label = `Colours: ${shown}. Switch to ${next}`;
    return html`<button class="button button-icon" name="theme" value="${next}" data-shown="${shown}" ${shown !== theme && html`hidden`} aria-label="${label}" title="${label}">${icon(sign)}</button>`;
  };
  return html`<form method="post" action="${home}/theme" ${url === undefined && html`data-stays`}>
${url !== undefined && html`<input type="hidden" name="next" value="${url}">`}
${button("system", "contrast", "dark")}${button("dark", "moon", "light")}${button("light", "sun", "system")}</form>`;
}

const footer = (isOurs: boolean) => html`<footer class="footer">
${isOurs && html`<p><a href="/docs">API documentation</a> · <a href="/status">Status</a></p>`}
<p>IP geolocation by <a href="https://db-ip.com">DB-IP</a></p>
</footer>`;
