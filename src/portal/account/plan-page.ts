// /portal/plan: limits and usage of the account's tier, upgrade and downgrade.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import {
  changeTier,
  requestUpgrade,
  upgradeRequestedAt,
  withdrawUpgrade,
} from "../../commands/account/tier.ts";
import { BULK_MAX_LINKS, TIER_LIMITS, type Tier, WEBHOOKS_PER_ACCOUNT } from "../../events/vocabulary.ts";
import { listKeys } from "../../queries/accounts.ts";
import { type AccountUsage, accountUsage } from "../../queries/analytics/account-dashboard.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { confirmed, copyable, meter, time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { portalContext, redirectTo } from "../shell/visit.ts";

/** Interface, part 1; false: not included. */
const FEATURES: readonly [name: string, free: string | false, developer: string][] = [
  ["Short links", "No limit", "No limit"],
  [
    "API requests",
    `${TIER_LIMITS.free.requestsPerHour} an hour and key`,
    `${TIER_LIMITS.developer.requestsPerHour} an hour and key`,
  ],
  [
    "Changes in this portal",
    `${TIER_LIMITS.free.requestsPerHour} an hour`,
    `${TIER_LIMITS.developer.requestsPerHour} an hour`,
  ],
  ["Active API keys", String(TIER_LIMITS.free.activeKeys), String(TIER_LIMITS.developer.activeKeys)],
  ["Analytics", "Last 24 hours", "Any range of time, with live updates"],
  ["Custom domains", false, "Yes, with certificates"],
  ["Custom slugs", false, "On your own domains"],
  ["Bulk creation", false, `${BULK_MAX_LINKS} links a request`],
  ["Webhooks", false, `${WEBHOOKS_PER_ACCOUNT}, with retries and a log`],
];

/** Requests of one active key in its current rate limit window. */
type HourOfKey = { name: string; used: number };

export function planPages(app: Api, deps: PortalDeps): void {
  const preHandler = requireSession;
  const { planPrice } = deps;

  app.get("/plan", { preHandler }, async (request, reply) => {
    const session = signedIn(request);
    const [usage, hours, waiting] = await Promise.all([
      accountUsage(deps, session),
      hoursOfKeys(deps, session),
      upgradeRequestedAt(deps, session.accountId),
    ]);
    const isFree = session.tier === "free";
    const offer = () => {
      if (planPrice === undefined) return isFree && setByOperator(session.accountId);
      return isFree ? upgradeCard(planPrice, waiting) : downgradeCard(planPrice);
    };
    return sendPage(reply, {
      title: "Plan",
      nav: "Plan",
      body: html`<div class="page-head"><div><h1>Plan</h1>
<p class="muted">You are on the ${isFree ? "Free" : "Developer"} plan.</p></div></div>
${usageCard(usage, hours, session.tier)}
${offer()}
${comparison(session.tier)}`,
    });
  });

  if (planPrice === undefined) return;

  app.post("/plan/upgrade", { preHandler }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    if (tier === "developer") return redirectTo(reply, "/portal/plan");
    if (await requestUpgrade(deps, accountId))
      deps.log.info(
        { accountId },
        "an account requested the Developer plan: see /admin/accounts or `account upgrades`",
      );
    return redirectTo(reply, "/portal/plan", { kind: "done", text: "Your request is with the operator." });
  });

  app.post("/plan/withdraw", { preHandler }, async (request, reply) => {
    await withdrawUpgrade(deps, signedIn(request).accountId);
    return redirectTo(reply, "/portal/plan", { kind: "info", text: "Your request is withdrawn." });
  });

  app.post("/plan/downgrade", { preHandler, schema: { body: z.object({}) } }, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { position } = await changeTier(deps, portalContext(request), accountId, "free");
    await deps.whenReadable(position);
    return redirectTo(reply, "/portal/plan", { kind: "done", text: "You are on the Free plan from now on." });
  });
}

async function hoursOfKeys(
  deps: PortalDeps,
  { accountId, tier }: { accountId: string; tier: Tier },
): Promise<HourOfKey[]> {
  const active = (await listKeys(deps, accountId)).filter(({ status }) => status === "active");
  const limit = TIER_LIMITS[tier].requestsPerHour;
  const hour = async ({ _id, label, hint }: (typeof active)[number]) => {
    const { used } = await deps.rateLimits.take(`key ${_id}`, limit, deps.clock(), 0);
    return { name: label || `Key …${hint}`, used };
  };
  return Promise.all(active.map(hour));
}

function usageCard(usage: AccountUsage, hours: readonly HourOfKey[], tier: Tier): Html {
  const { requestsPerHour, activeKeys } = TIER_LIMITS[tier];
  return html`<section class="card"><h2>In use</h2><div class="grid grid-small">
${meter("Active API keys", usage.keys.used, activeKeys)}
${tier === "developer" ? meter("Webhooks", usage.webhooks.used, usage.webhooks.limit) : ""}
${hours.map(({ name, used }) => meter(`Requests this hour, ${name}`, used, requestsPerHour))}
</div></section>`;
}

function setByOperator(accountId: string): Html {
  return html`<section class="card"><h2>Developer</h2>
<p class="muted">Your own domains with your own slugs, webhooks, bulk creation, ten times the requests.</p>
<p>The operator of this service sets the plan of an account:</p>
${copyable("command", `npx linkledger account tier ${accountId} developer`, "the command")}</section>`;
}

function upgradeCard(price: string, waiting: string | undefined): Html {
  const head = html`<h2>Developer, ${price}</h2>
<p class="muted">Your own domains with your own slugs, webhooks, bulk creation, ten times the requests.</p>`;
  if (waiting)
    return html`<section class="card">${head}
<div class="notice notice-info" role="status">${icon("clock")}<p>You asked for it on ${time(waiting)}. The operator of this service gets in touch about the payment, and then switches it on.</p></div>
<form method="post" action="/portal/plan/withdraw"><button class="button">Withdraw the request</button></form></section>`;
  return html`<section class="card">${head}
<form method="post" action="/portal/plan/upgrade"><button class="button button-primary">Ask for the Developer plan</button></form>
<p class="hint">The operator of this service approves it; nothing is charged by this button.</p></section>`;
}

function downgradeCard(price: string): Html {
  return html`<section class="card"><div class="card-head"><div><h2>Developer, ${price}</h2>
<p class="muted">Thank you for keeping this service going.</p></div>
${confirmed(
  "Go back to Free",
  html`<p>Links on your domains and keys you have go on working. New ones beyond the Free plan are refused, and webhooks are no longer sent.</p>`,
  html`<form method="post" action="/portal/plan/downgrade"><button class="button button-danger">Go back to Free</button></form>`,
)}</div></section>`;
}

function comparison(tier: Tier): Html {
  const here = html`<span class="badge badge-accent">Yours</span>`;
  return html`<section class="card"><h2>The plans</h2><table class="table">
<thead><tr><th scope="col"><span class="visually-hidden">Feature</span></th><th scope="col">Free ${tier === "free" && here}</th><th scope="col">Developer ${tier === "developer" && here}</th></tr></thead>
<tbody>${FEATURES.map(
    ([name, free, developer]) => html`<tr><td><strong>${name}</strong></td>
<td data-label="Free">${free || html`<span class="muted">No</span>`}</td><td data-label="Developer">${developer}</td></tr>`,
  )}</tbody></table></section>`;
}
