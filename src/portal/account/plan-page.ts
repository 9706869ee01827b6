// /portal/plan: limits and usage of the account's tier, upgrade and downgrade.
import type { Api } from "../../api/fastify.ts";
import {
  changeTier,
  requestUpgrade,
  upgradeRequestedAt,
  withdrawUpgrade,
} from "../../commands/account/tier.ts";
import { BULK_MAX_LINKS, type Limits } from "../../events/vocabulary.ts";
import { accountUsage, keyStatus, listKeys } from "../../queries/accounts.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { formRoute } from "../shell/form-route.ts";
import { html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import {
  badge,
  type Card,
  type Columns,
  confirmedPost,
  copyable,
  meter,
  postButton,
  table,
  time,
} from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { type SignedIn, signedIn } from "../shell/sessions.ts";
import { nameOf } from "./keys-pages.ts";

const PATH = "/portal/plan";
const LEAD = "Your own domains with your own slugs, webhooks, bulk creation, ten times the requests.";

/** Free: false where it is not included. */
type Feature = readonly [name: string, free: string | false, developer: string];

/** Interface, part 1. */
const featuresOf = (
  { free, developer, webhooks }: Limits,
  { baseHostSlugs }: PortalDeps["links"],
): readonly Feature[] => [
  ["Short links", "No limit", "No limit"],
  ["API requests", `${free.requestsPerHour} an hour and key`, `${developer.requestsPerHour} an hour and key`],
  ["Changes in this portal", `${free.requestsPerHour} an hour`, `${developer.requestsPerHour} an hour`],
  ["Active API keys", `${free.activeKeys}`, `${developer.activeKeys}`],
  ["Analytics", "Last 24 hours", "Any range of time, with live updates"],
  ["Custom domains", false, "Yes, with certificates"],
  ["Custom slugs", false, baseHostSlugs ? "Here, and on your own domains" : "On your own domains"],
  ["Bulk creation", false, `${BULK_MAX_LINKS} links a request`],
  ["Webhooks", false, `${webhooks}, with retries and a log`],
];

export function planPages(app: Api, deps: PortalDeps): void {
  const { planPrice } = deps;

  app.get("/plan", async (request, reply) => {
    const session = signedIn(request);
    const isFree = session.tier === "free";
    return sendPage(reply, {
      title: "Plan",
      nav: "Plan",
      lead: `You are on the ${isFree ? "Free" : "Developer"} plan.`,
      cards: [
        await usageCard(deps, session),
        planPrice === undefined ? isFree && setByOperator(session) : await offer(deps, session, planPrice),
        comparison(isFree, featuresOf(deps.limits, deps.links)),
      ],
    });
  });

  if (planPrice === undefined) return;

  formRoute(app, deps, "/plan/upgrade", {
    run: async ({ session: { accountId, tier } }) => {
      if (tier === "developer") return {};
      const text = "an account requested the Developer plan: see /admin/accounts or `account upgrades`";
      if (await requestUpgrade(deps, accountId)) deps.log.info({ accountId }, text);
      return { notice: "Your request is with the operator." };
    },
  });

  formRoute(app, deps, "/plan/withdraw", {
    run: async ({ session: { accountId } }) => {
      await withdrawUpgrade(deps, accountId);
      return { notice: { kind: "info", text: "Your request is withdrawn." } };
    },
  });

  formRoute(app, deps, "/plan/downgrade", {
    run: async ({ context, session: { accountId } }) => {
      const { position } = await changeTier(deps, context, accountId, "free");
      return { position, notice: "You are on the Free plan from now on." };
    },
  });
}

/** Also the requests of each active key in its current rate limit window. */
async function usageCard(deps: PortalDeps, session: SignedIn): Promise<Card> {
  const { requestsPerHour, activeKeys } = deps.limits[session.tier];
  const { keys, webhooks } = await accountUsage(deps, session);
  const active = (await listKeys(deps, session.accountId)).filter(
    (key) => keyStatus(key, deps.clock()) === "active",
  );
  const requests = await Promise.all(
    active.map(async (key) => {
      const { used } = await deps.rateLimits.take(`key ${key._id}`, requestsPerHour, deps.clock(), 0);
      return meter(`Requests this hour, ${nameOf(key)}`, used, requestsPerHour);
    }),
  );
  return {
    title: "In use",
    body: html`<div class="grid grid-small">
${meter("Active API keys", keys.used, activeKeys)}
${session.tier === "developer" && meter("Webhooks", webhooks.used, webhooks.limit)}
${requests}
</div>`,
  };
}

function setByOperator({ accountId }: SignedIn): Card {
  const command = `bin/linkledger account tier ${accountId} developer`;
  return {
    title: "Developer",
    lead: LEAD,
    body: html`<p>The operator of this service sets the plan of an account:</p>${copyable("command", command, "the command")}`,
  };
}

/** The other plan. */
async function offer(deps: PortalDeps, { accountId, tier }: SignedIn, price: string): Promise<Card> {
  const title = `Developer, ${price}`;
  if (tier === "developer")
    return {
      title,
      lead: "Thank you for keeping this service going.",
      actions: confirmedPost(
        "Go back to Free",
        "Links on your domains and keys you have go on working. New ones beyond the Free plan are refused, webhooks and weekly mails are no longer sent, and pages that you have shared are not shown.",
        `${PATH}/downgrade`,
        "Go back to Free",
      ),
    };
  const askedAt = await upgradeRequestedAt(deps, accountId);
  const body =
    askedAt === undefined
      ? html`${postButton(`${PATH}/upgrade`, "Ask for the Developer plan", { kind: "primary" })}
<p class="hint">The operator of this service approves it; nothing is charged by this button.</p>`
      : html`<div class="notice notice-info" role="status">${icon("clock")}<p>You asked for it on ${time(askedAt)}. The operator of this service gets in touch about the payment, and then switches it on.</p></div>
${postButton(`${PATH}/withdraw`, "Withdraw the request")}`;
  return { title, lead: LEAD, body };
}

function comparison(isFree: boolean, features: readonly Feature[]): Card {
  const title = "The plans";
  const yours = badge("accent", "Yours");
  const no = html`<span class="muted">No</span>`;
  const columns: Columns<Feature> = {
    Feature: { isHidden: true, cell: ([name]) => html`<strong>${name}</strong>` },
    Free: { mark: isFree && yours, cell: ([, free]) => free || no },
    Developer: { mark: !isFree && yours, cell: ([, , developer]) => developer },
  };
  return { title, body: table(title, columns, features) };
}
