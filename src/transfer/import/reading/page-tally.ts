// Whether all pages of an API's answer are in a file, by what each of them says of the whole: a part isn't taken for it.
import { hash } from "node:crypto";
import { isObject } from "../../../runtime/is-object.ts";
import { countOf, textOf } from "../fields.ts";

const TOTALS = ["total", "totalItems", "totalCount", "total_count", "stats.total_links"];
const NEXT = ["next", "next_cursor", "nextCursor", "has_more", "hasMore"];
/** Members of a page under which its list and what is said of it are. */
const WITHIN = ["", "shortUrls.", "visits.", "links.", "data."].flatMap((list) =>
  ["", "pagination.", "meta."].map((about) => list + about),
);

export type PageTally = ReturnType<typeof pageTally>;

export function pageTally() {
  /** A page that is in the file twice counts once. */
  const hashes = new Set<string>();
  let [records, total, pages, last] = [0, 0, 0, 0];
  let hasEnd = false;

  return {
    /** `document`: a page with so many records. */
    add(document: unknown, count: number): void {
      if (!isObject(document)) return;
      const anywhere = (names: readonly string[]) =>
        WITHIN.flatMap((prefix) => names.map((name) => `${prefix}${name}`));
      const ofAll = countOf(document, anywhere(TOTALS));
      const pagesCount = countOf(document, anywhere(["pagesCount"]));
      const next = textOf(document, anywhere(NEXT));
      if (ofAll === undefined && pagesCount === undefined && next === undefined) {
        hasEnd = true;
        return;
      }
      const text = hash("sha256", JSON.stringify(document));
      if (hashes.has(text)) return;
      hashes.add(text);
      records += count;
      pages += 1;
      total = Math.max(total, ofAll ?? 0);
      last = Math.max(last, pagesCount ?? 0);
      hasEnd ||= next === undefined || next === "false";
    },
    /** What is not in the file, in a sentence. `what`: the file holds. */
    missing(what: "links" | "clicks"): string | undefined {
      if (records < total)
        return `${records.toLocaleString("en")} of ${total.toLocaleString("en")} ${what} are in this file`;
      if (pages < last) return `${pages} of ${last} pages are in this file`;
      if (total === 0 && pages > 0 && !hasEnd) return "the pages after these are not in this file";
      return undefined;
    },
  };
}
