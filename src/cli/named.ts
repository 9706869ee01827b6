// How every command is told which account, domain, webhook or link: by its id, or by what an operator knows of it.
import { Option } from "commander";
import type { LinkAddress } from "../commands/links/link-stream.ts";
import { Refused } from "../commands/refusals.ts";
import { LINK_STATUSES } from "../events/links/link-status.ts";
import type { DomainDocument } from "../projections/definitions/domains.ts";
import type { WebhookDocument } from "../projections/definitions/webhooks.ts";
import { findAccount } from "../queries/accounts.ts";
import { domainsNamed } from "../queries/domains.ts";
import { namedLink } from "../queries/links/named-link.ts";
import { findPerson } from "../queries/people.ts";
import { webhooksNamed } from "../queries/webhooks.ts";
import { Failure } from "../runtime/errors.ts";
import type { Session } from "./session.ts";

/** Of commands that work on some links of an account. */
export const STATUS_OPTION = new Option(
  "--status <status>",
  "only links at which a visitor meets this now",
).choices(LINK_STATUSES);

/** An argument that stands for something in the stores. `find` throws what its errors are below. */
export type Named = { about: string; find(session: Session, name: string): Promise<unknown> };

export const LINK = "short URL, host/slug, or a slug on the default host";

/** The id. @throws account_not_found */
export const ACCOUNT = {
  about: "e-mail address or id; its key's id, hostname or link will do, too",
  find: ({ deps }: Session, name: string) => findAccount(deps, name),
} satisfies Named;

/** @throws person_not_found */
export const PERSON: Named = {
  about: "e-mail address or id",
  async find({ deps }, name): Promise<string> {
    const personId = await findPerson(deps, name);
    if (personId === undefined) throw new Refused("person_not_found");
    return personId;
  },
};

/** @throws invalid_link */
export const LINK_ADDRESS: Named = { about: LINK, find: async (session, name) => linkNamed(session, name) };

/** Of an account that has verified the hostname, else of the one that has added it. @throws domain_not_found; Failure */
export const DOMAIN: Named = {
  about: "hostname or id",
  async find({ deps }, name): Promise<DomainDocument> {
    const domains = await domainsNamed(deps, name);
    const verified = domains.filter(({ state }) => state === "verified");
    const [domain, other] = verified.length > 0 ? verified : domains;
    if (!domain) throw new Refused("domain_not_found");
    if (other) throw new Failure(`${domains.length} accounts have added ${name}, and none has verified it`);
    return domain;
  },
};

/** One that was removed is found by its id. @throws webhook_not_found; Failure */
export const WEBHOOK: Named = {
  about: "id, or the URL that it sends to",
  async find({ deps }, name): Promise<WebhookDocument> {
    const webhooks = await webhooksNamed(deps, name);
    const [webhook] = webhooks;
    if (!webhook) throw new Refused("webhook_not_found");
    if (webhooks.length === 1) return webhook;
    const ids = webhooks.map(({ _id }) => _id).join(", ");
    throw new Failure(`${webhooks.length} webhooks send to ${name}: ${ids}`);
  },
};

/** @throws invalid_link */
export function linkNamed({ config }: Pick<Session, "config">, text: string): LinkAddress {
  return namedLink(text, config.baseHost);
}
