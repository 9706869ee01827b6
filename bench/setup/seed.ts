// Appends accounts, links and keys to stores before the service starts, as the same events that commands append: over the
// API, its rate limits would make 10,000 links take hours.
import { randomUUID } from "node:crypto";
import { issueKey } from "../../src/commands/account/change-keys.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import type { LinkledgerEvent } from "../../src/events/catalogue.ts";
import { newEvent } from "../../src/events/new-event.ts";
import { accountStream, linkStream } from "../../src/events/streams.ts";
import { INTERFACE_LIMITS } from "../../src/events/vocabulary.ts";
import { REQUESTS_PER_HOUR_BY_ADDRESS } from "../../src/limits/rate-limit.ts";
import type { Backend } from "../../src/service/stores/backend.ts";
import { benchSlug, benchUrl } from "../load/requests.ts";

const BATCH = 500;

/** What is said of who did it, in events and to commands. */
export const BENCH = { requestId: "bench", actor: { type: "operator" as const } };

/** One Developer account with links on the default host. Returns the account's id. */
export async function seedLinks(backend: Backend, baseUrl: string, links: number): Promise<string> {
  const accountId = await openAccount(backend);
  await seedLinksOf(backend, baseUrl, { accountId, links });
  return accountId;
}

/** Links of an existing account. `slugOf`: slug by number; by default those that the load generator requests. */
export async function seedLinksOf(
  backend: Backend,
  baseUrl: string,
  order: { accountId: string; links: number; slugOf?: (link: number) => string },
): Promise<void> {
  const { accountId, links, slugOf = benchSlug } = order;
  const at = new Date().toISOString();
  const host = new URL(baseUrl).hostname;
  for (let first = 0; first < links; first += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, links - first) }, (_, i) => first + i);
    await Promise.all(
      batch.map((link) => {
        const slug = slugOf(link);
        const urls = { longUrl: benchUrl(link), shortUrl: `${baseUrl}/${slug}` };
        const data = { host, slug, accountId, at, ...urls, via: "api" as const, custom: false };
        return appendFirst(backend, linkStream(host, slug), { type: "LinkCreated", data });
      }),
    );
  }
}

/** Keys of Developer accounts that together allow that many requests in an hour, as far as one address may show keys. */
export async function seedKeys(backend: Backend, keyPrefix: string, requests: number): Promise<string[]> {
  const { requestsPerHour, activeKeys } = INTERFACE_LIMITS.developer;
  const needed = Math.min(requests / requestsPerHour, REQUESTS_PER_HOUR_BY_ADDRESS);
  const deps = { ...runtimeDeps, ...backend, keyPrefix };
  const keys: string[] = [];
  while (keys.length < needed) {
    const accountId = await openAccount(backend);
    for (let n = 0; n < activeKeys; n++) keys.push((await issueKey(deps, BENCH, accountId)).key);
  }
  return keys;
}

async function openAccount(backend: Backend): Promise<string> {
  const accountId = randomUUID();
  const at = new Date().toISOString();
  const event = { type: "AccountOpened" as const, data: { accountId, at, tier: "developer" as const } };
  await appendFirst(backend, accountStream(accountId), event);
  return accountId;
}

function appendFirst({ eventStore }: Backend, stream: string, event: LinkledgerEvent) {
  const origin = { correlationId: "bench", causationId: "bench", actor: BENCH.actor };
  return eventStore.append(stream, "none", [newEvent(event, randomUUID(), origin)]);
}
