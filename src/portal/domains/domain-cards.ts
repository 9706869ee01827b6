// Cards of one domain's page: state, DNS records, home page, deactivation and removal.
import { txtRecord } from "../../commands/domains/hostname.ts";
import { isLoopback } from "../../commands/links/accept-url.ts";
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import { readableUrl } from "../links/readable-url.ts";
import { confirmed, copyable, field, time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { noticeBox } from "../shell/page.ts";

type DomainCardsOptions = { baseHost: string; path: (hostname: string) => string };

export function domainState({ state, active, recordLostAt }: DomainDocument): Html {
  if (state === "added") return html`<span class="badge badge-warn">Not verified</span>`;
  if (!active) return html`<span class="badge">Inactive</span>`;
  if (recordLostAt !== null) return html`<span class="badge badge-warn">Record missing</span>`;
  return html`<span class="badge badge-good">Active</span>`;
}

export function domainCards(domain: DomainDocument, options: DomainCardsOptions): Html {
  const { hostname, state } = domain;
  const name = readableUrl(hostname);
  return html`<div class="page-head"><div><p class="muted"><a href="/portal/domains">Domains</a></p><h1>${name}</h1>${name !== hostname && html`<p class="muted">In the DNS: <code>${hostname}</code></p>`}</div>${domainState(domain)}</div>
${warning(domain)}
${state === "added" ? recordsCard(domain, options) : identityCard(domain)}
${state === "added" ? "" : homeCard(domain, options)}
${state === "added" ? "" : recordsCard(domain, options)}
${endCard(domain, options)}`;
}

/** Banner of a domain whose TXT record is missing: while it is active, and once it is not, for that or by its owner. */
function warning({ hostname, recordLostAt, active }: DomainDocument): Html | "" {
  if (recordLostAt === null) return "";
  const since = `since ${recordLostAt.slice(0, 10)}`;
  const text = active
    ? `The TXT record of ${readableUrl(hostname)} has been missing ${since}. After seven days without it the domain becomes inactive.`
    : `The TXT record of ${readableUrl(hostname)} has been missing ${since}. The domain is inactive and its links answer 404. Set the record again, then verify.`;
  return noticeBox({ kind: "failed", text });
}

function recordsCard(domain: DomainDocument, { baseHost, path }: DomainCardsOptions): Html {
  const { hostname, token, state, recordLostAt } = domain;
  const record = txtRecord(hostname, token);
  const isOpen = state === "added" || recordLostAt !== null;
  const verify = html`<form method="post" action="${path(hostname)}/verify"><button class="button button-primary">${icon("check")}Verify now</button></form>`;
  return html`<section class="card"><h2>${state === "added" ? "Set these DNS records" : "DNS records"}</h2>
<p class="muted">At the company where you manage the DNS of ${readableUrl(hostname)}. New records may take a few minutes to be seen.</p>
<h3>1. TXT, which proves that the name is yours</h3>
<p>Name</p>${copyable("txt-name", record.name, "the record's name")}
<p>Value</p>${copyable("txt-value", record.value, "the record's value")}
<h3>2. CNAME, which brings visitors here</h3>
${isLoopback(baseHost) ? onlyHere(baseHost) : cname(hostname, baseHost)}
${isOpen ? verify : ""}</section>`;
}

function cname(hostname: string, baseHost: string): Html {
  return html`<p>Name</p>${copyable("cname-name", hostname, "the record's name")}
<p>Value</p>${copyable("cname-value", `${baseHost}.`, "the record's value")}
<p class="muted">The top of a zone, such as example.com itself, can't have a CNAME: use your provider's ALIAS or ANAME to ${baseHost}, or A and AAAA records with the addresses of ${baseHost}.</p>`;
}

function onlyHere(baseHost: string): Html {
  return html`<p class="muted">None yet: this service is at ${baseHost}, where only its own machine reaches it. Once its operator has given it a public address (<code>BASE_URL</code>), the record is shown here.</p>`;
}

function identityCard({ domainId, verifiedAt, proven }: DomainDocument): Html {
  const how =
    proven === "operator" ? "vouched for by the operator" : "by its TXT record, looked up again every day";
  return html`<section class="card"><h2>For the API</h2>
<p>Programs name this domain as <code>domain_id</code>:</p>${copyable("domain-id", domainId ?? "", "the domain's id")}
<p class="muted">Verified ${verifiedAt ? time(verifiedAt) : ""}, ${how}.</p></section>`;
}

function homeCard({ hostname, homeUrl }: DomainDocument, { path }: DomainCardsOptions): Html {
  return html`<section class="card"><h2>Home page</h2>
<form method="post" action="${path(hostname)}/home" class="form-row">
${field({ label: `Where ${readableUrl(hostname)}/ leads`, name: "url", type: "url", value: homeUrl ?? "", placeholder: "https://www.example.com/", hint: "Empty: a small neutral page.", autocomplete: "off" })}
<button class="button">Save</button></form></section>`;
}

function endCard(
  { hostname, state, active, recordLostAt }: DomainDocument,
  { path }: DomainCardsOptions,
): Html {
  const post = (action: string, button: Html) =>
    html`<form method="post" action="${path(hostname)}/${action}">${button}</form>`;
  const pause = confirmed(
    "Deactivate",
    html`<p>All links on <strong>${readableUrl(hostname)}</strong> answer 404 until you activate it again.</p>`,
    post("deactivate", html`<button class="button button-danger">Deactivate domain</button>`),
  );
  const resume = post("activate", html`<button class="button">Activate</button>`);
  const remove = confirmed(
    "Remove",
    html`<p>Its links stop with 404, and others may claim <strong>${readableUrl(hostname)}</strong>. Add and verify it again to restore them.</p>`,
    post("remove", html`<button class="button button-danger">Remove domain</button>`),
  );
  const title = state === "added" ? "Remove" : active ? "Deactivate or remove" : "Activate or remove";
  return html`<section class="card card-danger"><h2>${title}</h2><div class="form-row">
${state !== "added" && active ? pause : ""}
${state !== "added" && !active && recordLostAt === null ? resume : ""}
${remove}</div></section>`;
}
