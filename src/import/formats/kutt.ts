// Kutt: pages of `GET /api/v2/links`, or its tables links and visits as CSV or JSON. A visits row counts one hour.
import { Refused } from "../../runtime/refused.ts";
import { count, isTrue, optionalTime, requiredText, text, timeOf } from "../fields.ts";
import type { ClickFacts, ImportedChange, ImportFormat, Row } from "../imported.ts";
import { endAt } from "./ends.ts";

const BROWSERS = {
  br_chrome: "Chrome",
  br_edge: "Edge",
  br_firefox: "Firefox",
  br_ie: "IE",
  br_opera: "Opera",
  br_safari: "Safari",
};
const SYSTEMS = {
  os_android: "Android",
  os_ios: "iOS",
  os_linux: "Linux",
  os_macos: "Mac OS",
  os_windows: "Windows",
};
const DESKTOPS = ["Linux", "Mac OS", "Windows"];
/** Beyond what one hour can have, so that a damaged number doesn't fill the log. */
const MOST_IN_AN_HOUR = 1_000_000;

export const kutt: ImportFormat = {
  columns: { links: [["address"], ["target"]], clicks: [["link_id"], ["created_at"]] },
  linkOf(row, now) {
    const password = text(row, "password");
    if (password !== undefined && !/^(false|f|0)$/i.test(password))
      throw new Refused("record_refused", "it is protected by a password, which links here can't be");
    return {
      slug: requiredText(row, "address"),
      domain: text(row, "domain")?.toLowerCase(),
      id: text(row, "id"),
      longUrl: requiredText(row, "target"),
      createdAt: optionalTime(row, "created_at"),
      changes: [...banned(row), ...endAt(optionalTime(row, "expire_in"), now)],
      totalClicks: count(row, "visit_count"),
    };
  },
  clicksOf(row) {
    const total = count(row, "total") ?? 0;
    if (total > MOST_IN_AN_HOUR) throw new Refused("record_refused", `${total} visits in one hour`);
    const facts = factsOf(row, total);
    const link = { id: requiredText(row, "link_id") };
    return Array.from({ length: total }, (_, n) => ({ link, identity: `hour ${n}`, isId: false, facts }));
  },
};

function banned(row: Row): ImportedChange[] {
  if (!isTrue(row, "banned")) return [];
  return [{ at: optionalTime(row, "updated_at"), change: { type: "disable" } }];
}

/** Only what all visits of the hour have in common is known of each of them. */
function factsOf(row: Row, total: number): ClickFacts {
  const os = common(named(row, SYSTEMS), total);
  const country = common(json(row, "countries"), total);
  const referrer = common(json(row, "referrers"), total)?.replaceAll("[dot]", ".");
  return {
    at: timeOf(requiredText(row, "created_at")),
    browser: common(named(row, BROWSERS), total),
    os,
    device: os !== undefined && DESKTOPS.includes(os) ? "desktop" : undefined,
    country,
    referrer: referrer === undefined ? undefined : /^direct$/i.test(referrer) ? "" : `https://${referrer}`,
  };
}

function common(counts: Record<string, number>, total: number): string | undefined {
  return Object.keys(counts).find((name) => counts[name] === total);
}

function named(row: Row, names: Readonly<Record<string, string>>): Record<string, number> {
  return Object.fromEntries(Object.entries(names).map(([field, name]) => [name, count(row, field) ?? 0]));
}

function json({ value }: Row, name: string): Record<string, number> {
  const field = value[name];
  if (typeof field !== "string") return (field ?? {}) as Record<string, number>;
  try {
    return JSON.parse(field === "" ? "{}" : field) ?? {};
  } catch {
    throw new Refused("record_refused", `${name} is no JSON`);
  }
}
