// The navigation of the portal and of the console: their entries, and the list with the current one marked.
import { type Html, html } from "./html.ts";
import { type IconName, icon } from "./icons.ts";
import type { PortalVisit } from "./visit.ts";

type Entry = { name: string; path: string; icon: IconName };

const PORTAL = [
  { name: "Dashboard", path: "/portal", icon: "chart" },
  { name: "Links", path: "/portal/links", icon: "link" },
  { name: "API keys", path: "/portal/keys", icon: "key" },
  { name: "Domains", path: "/portal/domains", icon: "globe" },
  { name: "Webhooks", path: "/portal/webhooks", icon: "send" },
  { name: "Plan", path: "/portal/plan", icon: "star" },
  { name: "Account", path: "/portal/account", icon: "person" },
] as const satisfies readonly Entry[];

const CONSOLE = [
  { name: "Overview", path: "/admin", icon: "info" },
  { name: "Accounts", path: "/admin/accounts", icon: "person" },
  { name: "Streams", path: "/admin/streams", icon: "link" },
  { name: "Find events", path: "/admin/events", icon: "search" },
  { name: "Explain a link", path: "/admin/explain", icon: "link" },
  { name: "Hits", path: "/admin/clicks", icon: "chart" },
  { name: "Withdrawals", path: "/admin/withdrawals", icon: "pause" },
  { name: "Seals", path: "/admin/seals", icon: "check" },
  { name: "Projections", path: "/admin/projections", icon: "clock" },
] as const satisfies readonly Entry[];

export type NavigationName = (typeof PORTAL)[number]["name"];
export type ConsoleName = (typeof CONSOLE)[number]["name"];

/** The entry of plans only where they are offered. */
export function navigation(
  current: NavigationName | ConsoleName,
  { home, sellsPlans }: Pick<PortalVisit, "home" | "sellsPlans">,
): Html {
  const [label, entries] = home === "/portal" ? ["Portal", PORTAL] : ["Console", CONSOLE];
  const shown = entries.filter(({ name }) => name !== "Plan" || sellsPlans);
  return html`<nav class="nav" aria-label="${label}"><ul>${shown.map(
    ({ name, path, icon: sign }) =>
      html`<li><a href="${path}" ${name === current ? html`aria-current="page"` : ""}>${icon(sign)}<span>${name}</span></a></li>`,
  )}</ul></nav>`;
}
