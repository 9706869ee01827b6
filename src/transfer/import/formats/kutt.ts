// Kutt: pages of `GET /api/v2/links`, or its tables links and visits as CSV or JSON. A visits row counts one hour.
import type { TimeZone } from "../../../queries/analytics/time-zone.ts";
import { Refused } from "../../../runtime/refused.ts";
import { count, isTrue, jsonOf, optionalTime, requiredText, text, timeOf, totalOf } from "../fields.ts";
import type { ClickFacts, FieldList, Fields, ImportedChange, ImportFormat } from "../imported.ts";

const BROWSERS = ["Chrome", "Edge", "Firefox", "IE", "Opera", "Safari"];
const DESKTOPS = ["Linux", "Mac OS", "Windows"];
const SYSTEMS = [...DESKTOPS, "Android", "iOS"];
/** Beyond what one hour can have, so that a damaged number doesn't fill the log. */
const MOST_IN_AN_HOUR = 1_000_000;

const mapped = {
  slug: ["address"],
  domain: ["domain", "domain_id"],
  url: ["target"],
  created_at: ["created_at"],
  comments: ["description"],
  expires_at: ["expire_in"],
  disabled: ["banned"],
  clicks: ["visit_count"],
  links_of_visits: ["id"],
} as const satisfies FieldList["mapped"];

const USER = "accounts are not imported";
const RELATIVE = "relative to when the file was made; the time itself is taken";

export const kutt: ImportFormat = {
  name: "kutt",
  hasLocalTimes: true,
  fields: {
    mapped,
    leftOut: {
      banned_by_id: USER,
      user_id: USER,
      link: "its slug and its domain are taken",
      uuid: "Kutt's API names the link by it",
      updated_at: "it doesn't say what was changed; taken as the time of a ban",
      relative_created_at: RELATIVE,
      relative_expire_in: RELATIVE,
    },
    refused: {
      password:
        "it is protected by a password, of which Kutt gives at most a bcrypt hash: links here can't use it",
    },
  },
  columns: { links: [mapped.slug, mapped.url], clicks: [["link_id"], ["created_at"]] },
  linksOf(record, { zone, note }) {
    const domain = text(record, "domain")?.toLowerCase();
    const number = text(record, "domain_id");
    const banned: ImportedChange = {
      at: optionalTime(record, zone, "updated_at"),
      change: { type: "disable" },
    };
    return [
      {
        slug: requiredText(record, ...mapped.slug),
        domain,
        // The table has the number of the domain, whose name is in another table.
        site: number === undefined ? undefined : `domain_id ${number}`,
        id: text(record, "id"),
        longUrl: requiredText(record, ...mapped.url),
        createdAt: optionalTime(record, zone, ...mapped.created_at),
        changes: isTrue(record, "banned") ? [banned] : [],
        fields: {
          comments: text(record, ...mapped.comments),
          expires_at: optionalTime(record, zone, ...mapped.expires_at),
        },
        totalClicks: totalOf(record, note, ...mapped.clicks),
      },
    ];
  },
  clicksOf(record, { zone }) {
    const written = requiredText(record, "total");
    const total = count(record, "total");
    if (total === undefined) throw new Refused("record_refused", `${written} is no count of visits`);
    if (total > MOST_IN_AN_HOUR) throw new Refused("record_refused", `${total} visits in one hour`);
    const facts = factsOf(record, total, zone);
    const link = { id: requiredText(record, "link_id") };
    return Array.from({ length: total }, (_, n) => ({ link, traits: `hour ${n}`, facts }));
  },
};

/** Only what all visits of the hour have in common is known of each of them. */
function factsOf(record: Fields, total: number, zone: TimeZone | undefined): ClickFacts {
  /** Such as the browser whose `br_chrome` is the total. */
  const named = (prefix: string, names: readonly string[]) =>
    names.find((name) => count(record, `${prefix}_${name.toLowerCase().replace(" ", "")}`) === total);
  const counted = (field: string) => {
    const counts = Object(jsonOf(record, field)) as Record<string, unknown>;
    return Object.keys(counts).find((name) => counts[name] === total);
  };
  const os = named("os", SYSTEMS);
  const referrer = counted("referrers")?.replaceAll("[dot]", ".");
  return {
    at: timeOf(requiredText(record, "created_at"), zone),
    browser: named("br", BROWSERS),
    os,
    device: os !== undefined && DESKTOPS.includes(os) ? "desktop" : undefined,
    country: counted("countries"),
    referrer: referrer && (/^direct$/i.test(referrer) ? "" : `https://${referrer}`),
  };
}
