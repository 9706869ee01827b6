// What an account uses of its tier's limits.
import { TIER_LIMITS, type Tier, WEBHOOKS_PER_ACCOUNT } from "../events/vocabulary.ts";
import { domains } from "../projections/definitions/domains.ts";
import { keys } from "../projections/definitions/keys.ts";
import { webhooks } from "../projections/definitions/webhooks.ts";
import type { ReadStore } from "../read-store/port.ts";
import { countLinks } from "./links/list-links.ts";

export type AccountUsage = {
  links: number;
  deletedLinks: number;
  keys: { used: number; limit: number };
  domains: number;
  webhooks: { used: number; limit: number };
  requestsPerHour: number;
};

/** @throws what the store throws */
export async function accountUsage(
  { readStore }: { readStore: ReadStore },
  { accountId, tier }: { accountId: string; tier: Tier },
): Promise<AccountUsage> {
  const made = await countLinks({ readStore }, accountId);
  const count = (collection: string, where: Record<string, string>) =>
    readStore.count(collection, { where: { accountId, ...where } });
  const { activeKeys, requestsPerHour, developerFeatures } = TIER_LIMITS[tier];
  const running = await count(webhooks.collection.name, { status: "active" });
  const paused = await count(webhooks.collection.name, { status: "paused" });
  return {
    links: made.links,
    deletedLinks: made.deleted,
    keys: { used: await count(keys.collection.name, { status: "active" }), limit: activeKeys },
    domains: await count(domains.collection.name, { state: "verified" }),
    webhooks: { used: running + paused, limit: developerFeatures ? WEBHOOKS_PER_ACCOUNT : 0 },
    requestsPerHour,
  };
}
