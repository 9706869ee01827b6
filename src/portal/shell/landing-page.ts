// GET /: the landing page; JSON with the documentation's URL for clients that don't accept HTML.
import type { Api } from "../../api/fastify.ts";
import type { Limits } from "../../events/vocabulary.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { type Html, html } from "./html.ts";
import { type IconName, icon } from "./icons.ts";
import { sendPage } from "./page.ts";

const FEATURES: readonly [sign: IconName, name: string, text: string][] = [
  [
    "link",
    "Links that hold",
    "Made in a moment, changed at any time. Every change is kept, so that you can see who did what, and when.",
  ],
  [
    "chart",
    "Counts you can trust",
    "Clicks of people are told apart from previews by bots, and QR scans from other clicks. Every number can be recounted.",
  ],
  ["globe", "Your own domain", "Bring a domain, choose your own slugs; certificates come by themselves."],
  [
    "send",
    "An API and webhooks",
    "Create links by the hundred, and be told of each click a moment after it happened.",
  ],
];

export function landingPage(
  site: Api,
  { baseUrl, planPrice, limits, signUp }: Pick<PortalDeps, "baseUrl" | "planPrice" | "limits" | "signUp">,
): void {
  site.get("/", async (request, reply) => {
    reply.header("vary", "accept");
    if (!request.headers.accept?.includes("text/html"))
      return {
        service: "linkledger",
        portal: `${baseUrl}/portal`,
        docs: `${baseUrl}/docs`,
        openapi: `${baseUrl}/openapi.json`,
      };
    return sendPage(reply, {
      title: "Short links with honest numbers",
      shape: "bare",
      body: html`<section class="hero">
<h1>Short links with honest numbers</h1>
<p class="lead">Shorten a link, put it anywhere, and see who followed it: where from, on what, and when. Without cookies, and without their addresses: those are cut short before anything is kept.</p>
<p class="actions">${
        request.visit.session
          ? html`<a class="button button-primary" href="/portal">Go to your dashboard</a>`
          : html`${signUp === "open" && html`<a class="button button-primary" href="/portal/sign-up">${planPrice === undefined ? "Sign up" : "Start for free"}</a>`}
<a class="button" href="/portal/sign-in">Sign in</a>`
      }</p>
</section>
<section class="features" aria-label="What it does">${FEATURES.map(
        ([sign, name, text]) => html`<div class="card">${icon(sign)}<h2>${name}</h2><p>${text}</p></div>`,
      )}</section>
${signUp === "closed" ? "" : planPrice === undefined ? firstMinute : price(planPrice, limits)}`,
    });
  });
}

function price(planPrice: string, { free }: Limits): Html {
  return html`<section class="hero hero-small"><h2>Free to begin with</h2>
<p class="lead">${free.requestsPerHour} API requests an hour and ${free.activeKeys} keys cost nothing.
Custom domains, custom slugs, bulk creation and webhooks come with the Developer plan, at ${planPrice}.</p></section>`;
}

const firstMinute = html`<section class="hero hero-small"><h2>Your first minute</h2>
<p class="lead"><a href="/portal/sign-up">Sign up</a> with an e-mail address and a password, paste a long address, and open the short one: the click shows up within two seconds. Programs do the same with an API key: see the <a href="/docs">API documentation</a>.</p></section>`;
