// Custom domains under /portal/domains: the list, one domain with its DNS records, and its actions.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import {
  activateDomain,
  addDomain,
  deactivateDomain,
  removeDomain,
  setDomainHome,
  verifyDomain,
} from "../../commands/domains/change-domains.ts";
import { txtRecord } from "../../commands/domains/hostname.ts";
import { isLoopback } from "../../commands/links/accept-url.ts";
import { Refused } from "../../commands/refusals.ts";
import { hasDeveloperFeatures } from "../../events/vocabulary.ts";
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import { findOwnDomain, listDomains } from "../../queries/domains.ts";
import { LONGEST_URL } from "../links/link-view.ts";
import { readableUrl } from "../links/urls.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { type Fields, schemaOf } from "../shell/controls.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import {
  badge,
  type Card,
  type Cards,
  type Columns,
  confirmedPost,
  copyable,
  postButton,
  tableCard,
  time,
} from "../shell/layout.ts";
import { noticeBox, sendPage } from "../shell/page.ts";
import type { RefusedForm } from "../shell/refused-form.ts";
import { signedIn } from "../shell/sessions.ts";

const LIST = "/portal/domains";
const HOSTNAME_MAX = 260;
const ADD_FIELDS = {
  hostname: {
    label: "Host name",
    placeholder: "go.example.com",
    isExact: true,
    required: true,
    maxlength: HOSTNAME_MAX,
  },
} satisfies Fields;
const HOME_FIELDS = {
  url: {
    label: "Where the host name alone leads",
    type: "url",
    maxlength: LONGEST_URL,
    placeholder: "https://www.example.com/",
    hint: "Empty: a small neutral page.",
  },
} satisfies Fields;
const Params = z.object({ hostname: z.string().max(HOSTNAME_MAX) });

/** The buttons of a domain, and what it is afterwards. Some commands know it by its id, which it gets when it is verified. */
const ACTIONS = {
  verify: { byHostname: verifyDomain, becomes: "verified" },
  remove: { byHostname: removeDomain, becomes: "removed" },
  activate: { byId: activateDomain, becomes: "active" },
  deactivate: { byId: deactivateDomain, becomes: "not served for now" },
};

export function domainsPages(app: Api, deps: PortalDeps): void {
  const showList = (reply: FastifyReply, refused?: RefusedForm) => sendList(deps, reply, refused);
  app.get("/domains", (_, reply) => showList(reply));

  formRoute(app, deps, "/domains", {
    schema: { body: schemaOf(ADD_FIELDS) },
    async run({ session: { accountId }, context, body }) {
      const { hostname, position } = await addDomain(deps, context, accountId, body.hostname);
      return { position, to: pathOf(hostname) };
    },
    again: showList,
  });

  const hostnameIn = (request: FastifyRequest) => (request.params as z.infer<typeof Params>).hostname;
  const showDomain = (reply: FastifyReply, refused?: RefusedForm) =>
    sendDomain(deps, reply, hostnameIn(reply.request), refused);
  app.get("/domains/:hostname", { schema: { params: Params } }, (_, reply) => showDomain(reply));

  const path = (request: FastifyRequest) => pathOf(hostnameIn(request));
  for (const [name, action] of Object.entries(ACTIONS))
    formRoute(app, deps, `/domains/:hostname/${name}`, {
      schema: { params: Params },
      again: "back",
      path,
      async run({ session: { accountId }, context, params }) {
        const domain = await findOwnDomain(deps, accountId, params.hostname);
        const { position } =
          "byId" in action
            ? await action.byId(deps, context, accountId, idOf(domain))
            : await action.byHostname(deps, context, accountId, domain.hostname);
        const notice = `${readableUrl(domain.hostname)} is ${action.becomes}.`;
        return { position, ...(name === "remove" && { to: LIST }), notice };
      },
    });

  formRoute(app, deps, "/domains/:hostname/home", {
    schema: { params: Params, body: schemaOf(HOME_FIELDS) },
    again: showDomain,
    path,
    async run({ session: { accountId }, context, params: { hostname }, body }) {
      const domainId = idOf(await findOwnDomain(deps, accountId, hostname));
      const change = { domainId, url: body.url.trim() || null };
      const { position } = await setDomainHome(deps.links, context, accountId, change);
      return { position, notice: "The home page is set." };
    },
  });
}

/** @throws domain_not_found, also for another account's */
async function sendDomain(
  deps: PortalDeps,
  reply: FastifyReply,
  name: string,
  refused?: RefusedForm,
): Promise<FastifyReply> {
  const domain = await findOwnDomain(deps, signedIn(reply.request).accountId, name);
  const readable = readableUrl(domain.hostname);
  return sendPage(reply, {
    title: readable,
    nav: "Domains",
    above: html`<a href="${LIST}">Domains</a>`,
    lead: readable !== domain.hostname && html`In the DNS: <code>${domain.hostname}</code>`,
    actions: domainState(domain),
    refused,
    cards: domainCards(domain, deps.baseHost),
  });
}

/** @throws domain_not_verified */
function idOf({ domainId }: DomainDocument): string {
  if (domainId === null) throw new Refused("domain_not_verified");
  return domainId;
}

function pathOf(hostname: string, below = ""): string {
  return `${LIST}/${encodeURIComponent(hostname)}${below}`;
}

async function sendList(deps: PortalDeps, reply: FastifyReply, refused?: RefusedForm): Promise<FastifyReply> {
  const { accountId, tier } = signedIn(reply.request);
  const domains = await listDomains(deps, accountId);
  const mayAdd = hasDeveloperFeatures(tier);
  return sendPage(reply, {
    title: "Domains",
    nav: "Domains",
    lead: "Short links under a name of your own, with certificates that come by themselves.",
    refused,
    cards: [
      mayAdd
        ? {
            title: "Add a domain",
            form: {
              action: LIST,
              fields: ADD_FIELDS,
              isRow: true,
              button: html`${icon("plus")}Add domain`,
              buttonKind: "primary",
            },
          }
        : {
            title: "Custom domains are part of the Developer plan",
            lead: html`With it, your links can read <code>go.example.com/launch</code> instead of ours, with slugs that you choose.`,
            body: html`<p><a class="button button-primary" href="/portal/plan">Look at the plans</a></p>`,
          },
      tableCard("Your domains", COLUMNS, domains, mayAdd ? { none: NO_DOMAINS } : {}),
    ],
  });
}

const NO_DOMAINS = [
  "No domains yet",
  html`Add a host name that you own, such as <code>go.example.com</code>. We show the DNS records to set; once they are there, your links work under it.`,
  "globe",
] as const;

const COLUMNS: Columns<DomainDocument> = {
  "Host name": ({ hostname }) => {
    const readable = readableUrl(hostname);
    return html`<div><a href="${pathOf(hostname)}"><strong>${readable}</strong></a>${readable !== hostname && html`<br><code class="muted small break">${hostname}</code>`}</div>`;
  },
  State: domainState,
  Added: "addedAt",
  "Id for the API": ({ domainId }) =>
    domainId ? html`<code>${domainId}</code>` : html`<span class="muted">after verification</span>`,
};

function domainState({ state, active, recordLostAt }: DomainDocument): Html {
  if (state === "added") return badge("warn", "Not verified");
  if (!active) return badge("plain", "Inactive");
  if (recordLostAt !== null) return badge("warn", "Record missing");
  return badge("good", "Active");
}

/** Of one domain's page. */
export function domainCards(domain: DomainDocument, baseHost: string): Cards {
  const { hostname, state, recordLostAt, domainId, verifiedAt, proven, homeUrl } = domain;
  const how =
    proven === "operator" ? "vouched for by the operator" : "by its TXT record, looked up again every day";
  const verified: Cards = [
    {
      title: "For the API",
      body: html`<p>Programs name this domain as <code>domain_id</code>:</p>${copyable("domain-id", domainId ?? "", "the domain's id")}
<p class="muted">Verified ${verifiedAt && time(verifiedAt)}, ${how}.</p>`,
    },
    {
      title: "Home page",
      form: {
        action: pathOf(hostname, "/home"),
        fields: { url: { ...HOME_FIELDS.url, label: `Where ${readableUrl(hostname)}/ leads` } },
        values: { url: homeUrl },
        isRow: true,
        button: "Save",
      },
    },
  ];
  return [
    recordLostAt !== null && noticeBox({ kind: "failed", text: recordLost(domain, recordLostAt) }),
    ...(state === "added" ? [] : verified),
    recordsCard(domain, baseHost),
    endCard(domain),
  ];
}

/** While the domain is active, and once it is not, for that or by its owner. */
function recordLost({ hostname, active }: DomainDocument, at: string): string {
  const lost = `The TXT record of ${readableUrl(hostname)} has been missing since ${at.slice(0, 10)}.`;
  return active
    ? `${lost} After seven days without it the domain becomes inactive.`
    : `${lost} The domain is inactive and its links answer 404. Set the record again, then verify.`;
}

function recordsCard({ hostname, token, state, recordLostAt }: DomainDocument, baseHost: string): Card {
  const { name, value } = txtRecord(hostname, token);
  const isOpen = state === "added" || recordLostAt !== null;
  const verify = html`${icon("check")}Verify now`;
  const body = html`<h3>1. TXT, which proves that the name is yours</h3>
${record("txt", name, value)}
<h3>2. CNAME, which brings visitors here</h3>
${cname(hostname, baseHost)}
${isOpen && postButton(pathOf(hostname, "/verify"), verify, { kind: "primary" })}`;
  return {
    title: state === "added" ? "Set these DNS records" : "DNS records",
    body,
    lead: `At the company where you manage the DNS of ${readableUrl(hostname)}. New records may take a few minutes to be seen.`,
  };
}

function record(id: string, name: string, value: string): Html {
  return html`<p>Name</p>${copyable(`${id}-name`, name, "the record's name")}
<p>Value</p>${copyable(`${id}-value`, value, "the record's value")}`;
}

function cname(hostname: string, baseHost: string): Html {
  if (isLoopback(baseHost))
    return html`<p class="muted">None yet: this service is at ${baseHost}, where only its own machine reaches it. Once its operator has given it a public address (<code>BASE_URL</code>), the record is shown here.</p>`;
  return html`${record("cname", hostname, `${baseHost}.`)}
<p class="muted">The top of a zone, such as example.com itself, can't have a CNAME: use your provider's ALIAS or ANAME to ${baseHost}, or A and AAAA records with the addresses of ${baseHost}.</p>`;
}

function endCard({ hostname, state, active, recordLostAt }: DomainDocument): Card {
  const name = html`<strong>${readableUrl(hostname)}</strong>`;
  const path = (below: string) => pathOf(hostname, below);
  const unserved = html`All links on ${name} answer 404 until you activate it again.`;
  const gone = html`Its links stop with 404, and others may claim ${name}. Add and verify it again to restore them.`;
  const pause = confirmedPost("Deactivate", unserved, path("/deactivate"), "Deactivate domain");
  const remove = confirmedPost("Remove", gone, path("/remove"), "Remove domain");
  const mayResume = !active && recordLostAt === null;
  const resume = mayResume && postButton(path("/activate"), "Activate");
  const isVerified = state !== "added";
  const title = !isVerified ? "Remove" : active ? "Deactivate or remove" : "Activate or remove";
  const body = html`<div class="form-row">${isVerified && (active ? pause : resume)}${remove}</div>`;
  return { title, body, kind: "danger" };
}
