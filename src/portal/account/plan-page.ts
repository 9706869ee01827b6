// /portal/plan: limits and usage of the account's tier, upgrade and downgrade.
import type { Api } from "../../api/fastify.ts";
import {
  changeTier,
  requestUpgrade,
  upgradeRequestedAt,
  withdrawUpgrade,
} from "../../commands/account/tier.ts";
import { BULK_MAX_LINKS, TIER_LIMITS, type Tier, WEBHOOKS_PER_ACCOUNT } from "../../events/vocabulary.ts";
import { type AccountUsage, accountUsage, listKeys } from "../../queries/accounts.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { copyable, meter, time } from "../shell/form.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { card, confirmedPost, pageHead, postButton, table } from "../shell/parts.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";

const PATH = "/portal/plan";
const DEVELOPER = "Your own domains with your own slugs, webhooks, bulk creation, ten times the requests.";

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
  const { planPrice } = deps;

  app.get("/plan", { preHandler: requireSession }, async (request, reply) => {
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
      body: html`${pageHead("Plan", { lead: `You are on the ${isFree ? "Free" : "Developer"} plan.` })}
${usageCard(usage, hours, session.tier)}
${offer()}
${comparison(session.tier)}`,
    });
  });

  if (planPrice === undefined) return;

  formRoute(app, deps, "/plan/upgrade", {
    path: PATH,
    run: async ({ session: { accountId, tier } }) => {
      if (tier === "developer") return { to: PATH };
      if (await requestUpgrade(deps, accountId))
        deps.log.info(
          { accountId },
          "an account requested the Developer plan: see /admin/accounts or `account upgrades`",
        );
      return { to: PATH, notice: "Your request is with the operator." };
    },
  });

  formRoute(app, deps, "/plan/withdraw", {
    path: PATH,
    run: async ({ session: { accountId } }) => {
      await withdrawUpgrade(deps, accountId);
      return { to: PATH, notice: { kind: "info", text: "Your request is withdrawn." } };
    },
  });

  formRoute(app, deps, "/plan/downgrade", {
    path: PATH,
    run: async ({ context, session: { accountId } }) => {
      const { position } = await changeTier(deps, context, accountId, "free");
      return { position, to: PATH, notice: "You are on the Free plan from now on." };
    },
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
  return card(
    "In use",
    html`<div class="grid grid-small">
${meter("Active API keys", usage.keys.used, activeKeys)}
${tier === "developer" && meter("Webhooks", usage.webhooks.used, usage.webhooks.limit)}
${hours.map(({ name, used }) => meter(`Requests this hour, ${name}`, used, requestsPerHour))}
</div>`,
  );
}

function setByOperator(accountId: string): Html {
  const command = `npx linkledger account tier ${accountId} developer`;
  return card(
    "Developer",
    html`<p>The operator of this service sets the plan of an account:</p>${copyable("command", command, "the command")}`,
    { lead: DEVELOPER },
  );
}

function upgradeCard(price: string, waiting: string | undefined): Html {
  const asked =
    () => html`<div class="notice notice-info" role="status">${icon("clock")}<p>You asked for it on ${time(waiting as string)}. The operator of this service gets in touch about the payment, and then switches it on.</p></div>
${postButton(`${PATH}/withdraw`, "Withdraw the request")}`;
  const offered =
    () => html`${postButton(`${PATH}/upgrade`, "Ask for the Developer plan", { kind: "primary" })}
<p class="hint">The operator of this service approves it; nothing is charged by this button.</p>`;
  return card(`Developer, ${price}`, waiting ? asked() : offered(), { lead: DEVELOPER });
}

function downgradeCard(price: string): Html {
  return card(`Developer, ${price}`, "", {
    lead: "Thank you for keeping this service going.",
    actions: confirmedPost(
      "Go back to Free",
      "Links on your domains and keys you have go on working. New ones beyond the Free plan are refused, and webhooks are no longer sent.",
      `${PATH}/downgrade`,
      "Go back to Free",
    ),
  });
}

function comparison(tier: Tier): Html {
  const title = "The plans";
  const yours = html`<span class="badge badge-accent">Yours</span>`;
  return card(
    title,
    table(
      title,
      [
        { name: "Feature", isHidden: true, cell: ([name]) => html`<strong>${name}</strong>` },
        {
          ...{ name: "Free", mark: tier === "free" && yours },
          cell: ([, free]) => free || html`<span class="muted">No</span>`,
        },
        { name: "Developer", mark: tier === "developer" && yours, cell: ([, , developer]) => developer },
      ],
      FEATURES,
    ),
  );
}
