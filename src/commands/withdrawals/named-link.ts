// How an operator names a link: by its slug, by `host/slug`, or by its short URL.
import { Refused } from "../../runtime/refused.ts";
import type { LinkAddress } from "../links/change-link.ts";

/** @throws invalid_link */
export function namedLink(text: string, baseHost: string): LinkAddress {
  const named = text.includes("/") ? text : `${baseHost}/${text}`;
  const url = URL.parse(named.includes("://") ? named : `http://${named}`);
  const slug = url?.pathname.slice(1).toLowerCase() ?? "";
  if (!url || slug === "" || slug.includes("/"))
    throw new Refused("invalid_link", `${text} names no link: give a slug, host/slug or the short URL`);
  return { host: url.hostname, slug };
}
