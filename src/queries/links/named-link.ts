// How people name a link, wherever one is asked for.
import type { LinkAddress } from "../../commands/links/link-stream.ts";
import { Refused } from "../../commands/refusals.ts";
import { hostName } from "../../runtime/addresses/host-name.ts";

/** The link that an operator names by its slug, by `host/slug`, or by its short URL. @throws invalid_link */
export function namedLink(text: string, baseHost: string): LinkAddress {
  const [, origin, ofHost, slug = ofHost] =
    /^(?:([^?#]*\/)([\w-]+)\/?|([\w-]+))(?:[?#].*)?$/.exec(text.trim()) ?? [];
  const host = origin === undefined ? baseHost : hostName(origin);
  if (slug === undefined || host === "")
    throw new Refused("invalid_link", `${text} names no link: give a slug, host/slug or the short URL`);
  return { host, slug: slug.toLowerCase() };
}
