// The campaign's parameters of a destination as inputs: read from its query and written into it, whatever else is in it.
import { UTM_FIELDS, type UtmField } from "../../events/vocabulary.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { StatusDeps } from "../../queries/links/link-statuses.ts";
import { accountLinkPages } from "../../queries/links/list-links.ts";
import { field } from "../shell/controls.ts";
import { type Html, html } from "../shell/html.ts";
import { type RefusedForm, typedText } from "../shell/refused-form.ts";

/** As a browser sends them again; empty texts for what isn't there. */
export type Utm = Readonly<Record<UtmField, string>>;

const LONGEST = 200;
const PLACEHOLDERS: Utm = {
  source: "newsletter",
  medium: "email",
  campaign: "spring-sale",
  term: "running shoes",
  content: "button",
};

export function utmOf(longUrl: string): Utm {
  const query = URL.parse(longUrl)?.searchParams;
  return eachField((name) => sentAgain(query?.get(`utm_${name}`) ?? ""));
}

/** Undefined for a form without these inputs. */
export function typedUtm(sent: RefusedForm["typed"]): Utm | undefined {
  const hasInputs = UTM_FIELDS.some((name) => `utm_${name}` in sent);
  return hasInputs ? eachField((name) => sentAgain(typedText(sent, `utm_${name}`))) : undefined;
}

/**
 * The URL with the parameters that are typed otherwise than `shown`; the others stay as the URL has them, and so does
 * what is no URL, which is refused as such.
 */
export function withUtm(url: string, typed: Utm | undefined, shown: Utm): string {
  const edited = typed ? UTM_FIELDS.filter((name) => typed[name] !== shown[name]) : [];
  if (!typed || edited.length === 0 || !URL.canParse(url)) return url;
  const [, before = "", query = "", fragment = ""] = /^([^?#]*)(?:\?([^#]*))?(#[\s\S]*)?$/.exec(url) ?? [];
  const names = edited.map((name) => `utm_${name}`);
  const others = query.split("&").filter((part) => part !== "" && !names.includes(nameOf(part)));
  const added = edited
    .filter((name) => typed[name] !== "")
    .map((name) => `utm_${name}=${encodeURIComponent(typed[name])}`);
  const parts = [...others, ...added].join("&");
  return `${before}${parts && `?${parts}`}${fragment}`;
}

/** Values that the account's links have, newest first, by which those of a new one are offered. */
export type KnownUtm = Readonly<Record<UtmField, readonly string[]>>;
const LINKS_READ = 200;
const MOST_OFFERED = 30;

export async function knownUtm(deps: StatusDeps, accountId: string): Promise<KnownUtm> {
  const { value: newest = [] } = await accountLinkPages(deps, accountId, { limit: LINKS_READ }).next();
  const campaigns = (newest as LinkDocument[]).map(({ longUrl }) => utmOf(longUrl));
  const valuesOf = (name: UtmField) =>
    campaigns.map((utm) => utm[name]).filter(({ length }) => length > 0 && length <= LONGEST);
  return Object.fromEntries(
    UTM_FIELDS.map((name) => [name, [...new Set(valuesOf(name))].slice(0, MOST_OFFERED)]),
  ) as Record<UtmField, string[]>;
}

export function utmFields(values: Utm, known: KnownUtm): Html {
  const inputs = UTM_FIELDS.map((name) => {
    const list = `known-${name}`;
    const input = field({
      ...{ label: `UTM ${name}`, name: `utm_${name}`, value: values[name], maxlength: LONGEST },
      ...{ placeholder: PLACEHOLDERS[name], list },
    });
    return html`${input}<datalist id="${list}">${known[name].map((value) => html`<option value="${value}">`)}</datalist>`;
  });
  return html`<p class="hint">Written into the destination's query when you save; an empty one is taken out.</p><div class="grid grid-small">${inputs}</div>`;
}

/** An input has one line. */
function sentAgain(value: string): string {
  return value.replace(/[\r\n]/g, "").trim();
}

function nameOf(part: string): string {
  return [...new URLSearchParams(part).keys()][0] ?? "";
}

function eachField(textOf: (name: UtmField) => string): Utm {
  return Object.fromEntries(UTM_FIELDS.map((name) => [name, textOf(name)])) as Utm;
}
