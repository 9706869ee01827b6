// Kutt: pages of `GET /api/v2/links`, or its tables links and visits as CSV or JSON. A visits row counts one hour.
import type { TimeZone } from "../../../queries/analytics/time-zone.ts";
import { Failure } from "../../../runtime/errors.ts";
import { column, required, tableFormat, text, time, total } from "../columns.ts";
import { countOf, isTrue, jsonOf, optionalTime, requiredText, textOf, timeOf } from "../fields.ts";
import type { ClickFacts, Fields } from "../imported.ts";

const BROWSERS = ["Chrome", "Edge", "Firefox", "IE", "Opera", "Safari"];
const DESKTOPS = ["Linux", "Mac OS", "Windows"];
const SYSTEMS = [...DESKTOPS, "Android", "iOS"];
/** Beyond what one hour can have, so that a damaged number doesn't fill the log. */
const MOST_IN_AN_HOUR = 1_000_000;

const USER = "accounts are not imported";
const RELATIVE = "relative to when the file was made; the time itself is taken";

export const kutt = tableFormat({
  name: "kutt",
  hasLocalTimes: true,
  links: {
    slug: required("address"),
    domain: column((record) => textOf(record, ["domain"])?.toLowerCase(), "domain", "domain_id"),
    url: required("target"),
    created_at: time("created_at"),
    comments: text("description"),
    expires_at: time("expire_in"),
    disabled: column(
      (record, names, context) =>
        isTrue(record, names) && (optionalTime(record, ["updated_at"], context) ?? true),
      "banned",
    ),
    clicks: total("visit_count"),
  },
  further: { links_of_visits: ["id"] },
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
  /** The table has the number of the domain, whose name is in another table. */
  complete(link, record) {
    const number = textOf(record, ["domain_id"]);
    const id = textOf(record, ["id"]);
    return [{ ...link, id, site: number === undefined ? undefined : `domain_id ${number}` }];
  },
  clicks: {
    needed: [["link_id"], ["created_at"]],
    of(record, { zone }) {
      const written = requiredText(record, ["total"]);
      const visits = countOf(record, ["total"]);
      if (visits === undefined) throw new Failure(`${written} is no count of visits`);
      if (visits > MOST_IN_AN_HOUR) throw new Failure(`${visits} visits in one hour`);
      const facts = factsOf(record, visits, zone);
      const link = { id: requiredText(record, ["link_id"]) };
      return Array.from({ length: visits }, (_, n) => ({ link, traits: `hour ${n}`, facts }));
    },
  },
});

/** Only what all visits of the hour have in common is known of each of them. */
function factsOf(record: Fields, total: number, zone: TimeZone | undefined): ClickFacts {
  /** Such as the browser whose `br_chrome` is the total. */
  const named = (prefix: string, names: readonly string[]) =>
    names.find((name) => countOf(record, [`${prefix}_${name.toLowerCase().replace(" ", "")}`]) === total);
  const counted = (field: string) => {
    const counts = Object(jsonOf(record, [field])) as Record<string, unknown>;
    return Object.keys(counts).find((name) => counts[name] === total);
  };
  const os = named("os", SYSTEMS);
  const referrer = counted("referrers")?.replaceAll("[dot]", ".");
  return {
    at: timeOf(requiredText(record, ["created_at"]), zone),
    browser: named("br", BROWSERS),
    os,
    device: os !== undefined && DESKTOPS.includes(os) ? "desktop" : undefined,
    country: counted("countries"),
    referrer: referrer && (/^direct$/i.test(referrer) ? "" : `https://${referrer}`),
  };
}
