// Which part of a link each column of a campaign's table is: told by its name and by what is in it, or chosen on the page.
import { FIELD_NAMES, fieldRow } from "../../commands/links/fields/link-fields.ts";
import { UTM_FIELDS } from "../../events/vocabulary.ts";
import { memberOf, shortUrlOf, textOf } from "../../transfer/import/fields.ts";
import { plainCsv } from "../../transfer/import/formats/plain-csv.ts";
import type { Fields, ImportedLink, ImportFormat } from "../../transfer/import/imported.ts";
import { typedUrl } from "../links/urls.ts";
import { utmOf, withUtm } from "../links/utm-fields.ts";

/** By our word for them, as people call them; `""`: left out. */
export const PARTS: Readonly<Record<string, string>> = {
  "": "Left out",
  url: "Destination",
  slug: "Short link (slug)",
  domain: "Domain",
  ...Object.fromEntries(UTM_FIELDS.map((name) => [`utm_${name}`, `UTM ${name}`])),
  ...Object.fromEntries(FIELD_NAMES.map((name) => [name, fieldRow(name).label])),
  disabled: "Disabled",
  created_at: "Created at",
  clicks: "Clicks so far",
};

/** Other names than their own, without signs. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  url:
    "longurl destination destinationurl landingpage landingpageurl target targeturl originalurl website page link address href " +
    "finalurl ziel zielseite zielurl",
  slug: "short shortlink shorturl shortcode alias keyword backhalf customslug ending kurzlink kurz",
  domain: "host hostname shortdomain",
  title: "name label linktitle linkname titel bezeichnung",
  tags: "tag labels categories category schlagworte",
  comments: "comment notes note description kommentar",
  expires_at: "expires expiry expirationdate validuntil enddate",
  active_from: "startdate validfrom",
  ...Object.fromEntries(UTM_FIELDS.map((name) => [`utm_${name}`, `${name} campaign${name}`])),
  utm_campaign: "campaign campaignname kampagne",
};

const BY_NAME = new Map(
  Object.keys(PARTS).flatMap((part) =>
    [part, ...(OTHER_NAMES[part]?.split(" ") ?? [])].map((name) => [folded(name), part]),
  ),
);

function folded(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

/** Of each column, in their order; no part twice. `records`: some rows. */
export function tellColumns(columns: readonly string[], records: readonly Fields[]): string[] {
  const named = columns.map((column) => BY_NAME.get(folded(column)) ?? "");
  const areUrls = columns.map((column) =>
    hasAddresses(records.map((record) => textOf(record, [column]) ?? "")),
  );
  const indexes = columns.keys().toArray();
  const url =
    indexes.find((n) => named[n] === "url" && areUrls[n]) ??
    indexes.find((n) => named[n] === "" && areUrls[n]) ??
    named.indexOf("url");
  return named.map((part, n) => {
    if (n === url) return "url";
    return part === "url" || named.indexOf(part) < n ? "" : part;
  });
}

/** Of what is in them, nearly all. */
function hasAddresses(values: readonly string[]): boolean {
  const filled = values.filter((value) => value !== "");
  const addresses = filled.filter((value) => /^https?:\/\/\S+$/i.test(typedUrl(value)));
  return filled.length > 0 && addresses.length >= 0.8 * filled.length;
}

/** Reads each row by the parts of its columns; a column without one is left out. */
export function mappedTable(columns: readonly string[], parts: readonly string[]): ImportFormat {
  const columnOf = columns.flatMap((column, n) => (parts[n] ? [[parts[n], column] as const] : []));
  const mapped = Object.fromEntries(columnOf.map(([part, column]) => [part, [column]]));
  return {
    ...plainCsv,
    fields: { mapped, leftOut: {}, refused: {} },
    columns: { links: [mapped.url ?? []] },
    linksOf(record, context) {
      const ours = Object.fromEntries(columnOf.map(([part, column]) => [part, memberOf(record, column)]));
      // By which links that can't be taken over are refused, such as those with a password.
      const { has_password, status } = record;
      const links = plainCsv.linksOf({ ...ours, has_password, status }, context);
      return links?.map((link) => withCampaign(withAddress(link), ours));
    },
  };
}

/** A short link may be given whole: its host is the domain. */
function withAddress(link: ImportedLink): ImportedLink {
  if (!link.slug?.includes("/")) return link;
  const { host, slug } = shortUrlOf(link.slug);
  return { ...link, slug, domain: link.domain ?? host };
}

function withCampaign(link: ImportedLink, ours: Fields): ImportedLink {
  const longUrl = typedUrl(link.longUrl);
  const there = utmOf(longUrl);
  const wanted = Object.fromEntries(
    UTM_FIELDS.map((name) => [name, textOf(ours, [`utm_${name}`]) ?? there[name]]),
  ) as typeof there;
  return { ...link, longUrl: withUtm(longUrl, wanted, there) };
}
