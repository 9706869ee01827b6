// Custom domains under /portal/domains: the list, one domain with its DNS records, and its actions.
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import {
  activateDomain,
  addDomain,
  deactivateDomain,
  removeDomain,
  setDomainHome,
  verifyDomain,
} from "../../commands/domains/domains.ts";
import type { Position } from "../../event-store/port.ts";
import { TIER_LIMITS } from "../../events/vocabulary.ts";
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import { findOwnDomain, listDomains } from "../../queries/accounts.ts";
import { isClientError, Refused } from "../../runtime/refused.ts";
import { LONGEST_URL } from "../links/link-view.ts";
import { readableUrl } from "../links/readable-url.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { field, time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { portalContext, redirectTo } from "../shell/visit.ts";
import { domainCards, domainState } from "./domain-cards.ts";

const HOSTNAME_MAX = 260;
const AddForm = z.object({ hostname: z.string().max(HOSTNAME_MAX).default("") });
const HomeForm = z.object({ url: z.string().max(LONGEST_URL).default("") });
const OneDomain = z.object({ hostname: z.string().max(HOSTNAME_MAX) });
const Action = OneDomain.extend({ action: z.enum(["verify", "activate", "deactivate", "remove"]) });

export function domainsPages(app: Api, deps: PortalDeps): void {
  app.get("/domains", { preHandler: requireSession }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const domains = await listDomains(deps, accountId);
    const mayAdd = TIER_LIMITS[tier].developerFeatures;
    return sendPage(reply, {
      title: "Domains",
      nav: "Domains",
      body: html`<div class="page-head"><div><h1>Domains</h1>
<p class="muted">Short links under a name of your own, with certificates that come by themselves.</p></div></div>
${mayAdd ? addCard() : developerOnly}
${domains.length === 0 ? mayAdd && noDomains : domainTable(domains)}`,
    });
  });

  app.post("/domains", { preHandler: requireSession, schema: { body: AddForm } }, async (request, reply) => {
    const { accountId } = signedIn(request);
    try {
      const given = request.body.hostname;
      const { hostname, position } = await addDomain(deps, portalContext(request), accountId, given);
      await deps.whenReadable(position);
      return redirectTo(reply, pathOf(hostname));
    } catch (error) {
      return refused(error, (text) => redirectTo(reply, "/portal/domains", { kind: "failed", text }));
    }
  });

  const one = { preHandler: requireSession, schema: { params: OneDomain } };
  app.get("/domains/:hostname", one, async (request, reply) => {
    const domain = await findOwnDomain(deps, signedIn(request).accountId, request.params.hostname);
    const cards = domainCards(domain, { baseHost: deps.baseHost, path: pathOf });
    return sendPage(reply, { title: readableUrl(domain.hostname), nav: "Domains", body: cards });
  });

  const acting = { preHandler: requireSession, schema: { params: Action } };
  app.post("/domains/:hostname/:action", acting, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { hostname, action } = request.params;
    const domain = await findOwnDomain(deps, accountId, hostname);
    const back = pathOf(domain.hostname);
    try {
      const { position } = await act(deps, portalContext(request), accountId, domain, action);
      await deps.whenReadable(position);
      const to = action === "remove" ? "/portal/domains" : back;
      return redirectTo(reply, to, { kind: "done", text: doneText(action, domain.hostname) });
    } catch (error) {
      return refused(error, (text) => redirectTo(reply, back, { kind: "failed", text }));
    }
  });

  const home = { preHandler: requireSession, schema: { params: OneDomain, body: HomeForm } };
  app.post("/domains/:hostname/home", home, async (request, reply) => {
    const { accountId } = signedIn(request);
    const { hostname, domainId } = await findOwnDomain(deps, accountId, request.params.hostname);
    try {
      if (domainId === null) throw new Refused("domain_not_verified");
      const change = { domainId, given: request.body.url.trim() || null };
      const { position } = await setDomainHome(deps.links, portalContext(request), accountId, change);
      await deps.whenReadable(position);
      return redirectTo(reply, pathOf(hostname), { kind: "done", text: "The home page is set." });
    } catch (error) {
      return refused(error, (text) => redirectTo(reply, pathOf(hostname), { kind: "failed", text }));
    }
  });
}

type ActionName = z.infer<typeof Action>["action"];

async function act(
  deps: PortalDeps,
  context: Parameters<typeof verifyDomain>[1],
  accountId: string,
  { hostname, domainId }: DomainDocument,
  action: ActionName,
): Promise<{ position: Position | undefined }> {
  if (action === "verify") return await verifyDomain(deps, context, accountId, hostname);
  if (action === "remove") return await removeDomain(deps, context, accountId, hostname);
  if (domainId === null) throw new Refused("domain_not_verified");
  const change = action === "activate" ? activateDomain : deactivateDomain;
  return await change(deps, context, accountId, domainId);
}

function doneText(action: ActionName, hostname: string): string {
  const done = {
    verify: "verified",
    activate: "active",
    deactivate: "not served for now",
    remove: "removed",
  };
  return `${readableUrl(hostname)} is ${done[action]}.`;
}

function refused<T>(error: unknown, answer: (text: string) => T): T {
  if (!isClientError(error)) throw error;
  return answer(error.message);
}

function pathOf(hostname: string): string {
  return `/portal/domains/${encodeURIComponent(hostname)}`;
}

function addCard(): Html {
  return html`<section class="card"><h2>Add a domain</h2>
<form method="post" class="form-row">
${field({ label: "Host name", name: "hostname", placeholder: "go.example.com", required: true, maxlength: HOSTNAME_MAX, autocomplete: "off" })}
<button class="button button-primary">${icon("plus")}Add domain</button></form></section>`;
}

const developerOnly = html`<section class="card"><h2>Custom domains are part of the Developer plan</h2>
<p class="muted">With it, your links can read <code>go.example.com/launch</code> instead of ours, with slugs that you choose.</p>
<p><a class="button button-primary" href="/portal/plan">Look at the plans</a></p></section>`;

const noDomains = html`<section class="card empty">${icon("globe")}<h2>No domains yet</h2>
<p>Add a host name that you own, such as <code>go.example.com</code>. We show the DNS records to set; once they are there, your links work under it.</p></section>`;

function domainTable(domains: readonly DomainDocument[]): Html {
  return html`<section class="card"><h2>Your domains</h2><table class="table">
<thead><tr><th scope="col">Host name</th><th scope="col">State</th><th scope="col">Added</th><th scope="col">Id for the API</th></tr></thead>
<tbody>${domains.map(domainRow)}</tbody></table></section>`;
}

function domainRow(domain: DomainDocument): Html {
  const { hostname } = domain;
  const name = readableUrl(hostname);
  return html`<tr><td><div><a href="${pathOf(hostname)}"><strong>${name}</strong></a>${name !== hostname && html`<br><code class="muted small break">${hostname}</code>`}</div></td>
<td data-label="State">${domainState(domain)}</td>
<td data-label="Added">${time(domain.addedAt)}</td>
<td data-label="Id for the API">${domain.domainId ? html`<code>${domain.domainId}</code>` : html`<span class="muted">after verification</span>`}</td></tr>`;
}
