// YOURLS: the tables yourls_url and yourls_log as CSV or JSON, or the answer of its API's action `stats`.
import { column, required, tableFormat, text, time, total } from "../columns.ts";
import { requiredText, shortUrlOf, textOf, timeOf } from "../fields.ts";

const SLUG = ["keyword", "shorturl"];

export const yourls = tableFormat({
  name: "yourls",
  links: {
    slug: column((record, names) => shortUrlOf(requiredText(record, names)).slug, ...SLUG),
    url: required("url"),
    title: text("title"),
    created_at: time("timestamp"),
    clicks: total("clicks"),
  },
  leftOut: { ip: "the address of whoever made the link: personal data" },
  clicks: {
    needed: [SLUG, ["click_time"]],
    of(record, { zone }) {
      const facts = {
        at: timeOf(requiredText(record, ["click_time"]), zone),
        // YOURLS writes `direct` when there was none.
        referrer: (textOf(record, ["referrer"]) ?? "").replace(/^direct$/, ""),
        userAgent: textOf(record, ["user_agent"]) ?? "",
        ip: textOf(record, ["ip_address"]),
        country: textOf(record, ["country_code"]),
      };
      const { slug } = shortUrlOf(requiredText(record, ["shorturl", "keyword"]));
      const id = textOf(record, ["click_id"]);
      const identity = id === undefined ? { traits: JSON.stringify(facts) } : { id };
      return [{ link: { slug }, facts, ...identity }];
    },
  },
});
