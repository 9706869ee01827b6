// The form that creates a link: URL, and on the Developer tier domain and slug.
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import { choice, field } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { LONGEST_URL } from "./link-view.ts";
import { readableUrl } from "./readable-url.ts";

export type CreateLinkGiven = { url: string; domain: string; slug: string };

/** Error messages by field. */
export type CreateLinkRefusal = Partial<Record<keyof CreateLinkGiven, string>>;

/** `once`: idempotency value of this form, so that submitting it twice creates one link. */
export function shortenForm(
  once: string,
  given: Partial<CreateLinkGiven> = {},
  refused: CreateLinkRefusal = {},
): Html {
  return html`<form method="post" action="/portal/links" class="form-row shorten"><input type="hidden" name="once" value="${once}">
${urlField({ value: given.url, error: refused.url ?? refused.domain ?? refused.slug })}
<button class="button button-primary">${icon("plus")}Shorten</button></form>`;
}

/** `domains`: those that can be chosen; undefined when the tier has no custom domains. */
export function createLinkForm(
  once: string,
  domains: readonly DomainDocument[] | undefined,
  given: Partial<CreateLinkGiven> = {},
  refused: CreateLinkRefusal = {},
): Html {
  if (!domains || domains.length === 0)
    return html`${shortenForm(once, given, refused)}<p class="hint">${domains ? addDomain : upgrade}</p>`;
  const own = domains.map(({ domainId, hostname }) => [domainId ?? "", readableUrl(hostname)] as const);
  return html`<form method="post" action="/portal/links" class="form"><input type="hidden" name="once" value="${once}">
${urlField({ value: given.url, error: refused.url })}
<div class="form-row">
${choice({ label: "Domain", name: "domain", value: given.domain, error: refused.domain, options: [["", "Default domain"], ...own] })}
${field({ label: "Slug", name: "slug", value: given.slug, error: refused.slug, maxlength: 50, autocomplete: "off", placeholder: "random", hint: "On your own domain: 3 to 50 letters, digits, - and _. Leave it empty for a random one." })}
</div>
<div><button class="button button-primary">${icon("plus")}Create link</button></div></form>`;
}

function urlField(given: { value?: string | undefined; error?: string | undefined }): Html {
  const shown = { label: "Destination", name: "url", placeholder: "https://example.com/a/long/page" };
  return field({ ...shown, ...given, required: true, maxlength: LONGEST_URL, autocomplete: "off" });
}

const addDomain = html`<a href="/portal/domains">Add your own domain</a> to choose the part after the slash yourself.`;
const upgrade = html`Your own domain and your own slugs come with the <a href="/portal/plan">Developer plan</a>.`;
