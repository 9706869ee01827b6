// How every command is told which account, domain, webhook or link: by its id, or by what an operator knows of it.

import { namedLink } from "../commands/links/change-link.ts";
import type { LinkAddress } from "../commands/links/link-stream.ts";
import type { DomainDocument } from "../projections/definitions/domains.ts";
import type { WebhookDocument } from "../projections/definitions/webhooks.ts";
import { domainsNamed } from "../queries/accounts.ts";
import { findAccount } from "../queries/find-account.ts";
import { webhooksNamed } from "../queries/webhooks.ts";
import { Refused } from "../runtime/refused.ts";
import type { Session } from "./session.ts";

export const ACCOUNT = "e-mail address or id; its key's id, hostname or link will do, too";
export const DOMAIN = "hostname or id";
export const WEBHOOK = "id, or the URL that it sends to";
export const LINK = "short URL, host/slug, or a slug on the default host";

/** The id. @throws account_not_found */
export async function accountNamed({ deps }: Session, given: string): Promise<string> {
  return await findAccount(deps, given);
}

/** Of an account that has verified the hostname, else of the one that has added it. @throws domain_not_found; ambiguous */
export async function domainNamed({ deps }: Session, given: string): Promise<DomainDocument> {
  const found = await domainsNamed(deps, given);
  const verified = found.filter(({ state }) => state === "verified");
  const [domain, other] = verified.length > 0 ? verified : found;
  if (!domain) throw new Refused("domain_not_found");
  if (other)
    throw new Refused("ambiguous", `${found.length} accounts have added ${given}, and none has verified it`);
  return domain;
}

/** One that was removed is found by its id. @throws webhook_not_found; ambiguous */
export async function webhookNamed({ deps }: Session, given: string): Promise<WebhookDocument> {
  const [webhook, ...others] = await webhooksNamed(deps, given);
  if (!webhook) throw new Refused("webhook_not_found");
  const ids = [webhook, ...others].map(({ _id }) => _id);
  if (others.length > 0)
    throw new Refused("ambiguous", `${ids.length} webhooks send to ${given}: ${ids.join(", ")}`);
  return webhook;
}

/** @throws invalid_link */
export function linkNamed({ config }: Pick<Session, "config">, text: string): LinkAddress {
  return namedLink(text, config.baseHost);
}
