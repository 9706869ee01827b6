// How an operator names a link: by its slug, by `host/slug`, or by its short URL.
import { CommandRefused } from "../errors.ts";
import type { LinkAddress } from "../links/change-link.ts";

export class InvalidLink extends CommandRefused {
  override readonly code = "invalid_link";
}

/** @throws InvalidLink */
export function namedLink(text: string, baseHost: string): LinkAddress {
  const named = text.includes("/") ? text : `${baseHost}/${text}`;
  const url = URL.parse(named.includes("://") ? named : `http://${named}`);
  const slug = url?.pathname.slice(1).toLowerCase() ?? "";
  if (!url || slug === "" || slug.includes("/"))
    throw new InvalidLink(`${text} names no link: give a slug, host/slug or the short URL`);
  return { host: url.hostname, slug };
}
