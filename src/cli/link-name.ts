// How every command is told which link: by its short URL, by host and slug, or by its slug on the service's own host.
import type { LinkAddress } from "../commands/links/change-link.ts";
import { namedLink } from "../commands/withdrawals/named-link.ts";
import type { Session } from "./session.ts";

/** Describes the argument or option. */
export const LINK = "short URL, host/slug, or a slug on the default host";

/** @throws invalid_link */
export function linkNamed({ config }: Pick<Session, "config">, text: string): LinkAddress {
  return namedLink(text, config.baseHost);
}
