// Appends links to a data folder before the service starts, as the API's rate limits would make 10,000 links take hours.
import { randomUUID } from "node:crypto";
import type { Backend } from "../../src/backend.ts";
import type { LinkledgerEvent } from "../../src/events/catalogue.ts";
import { newEvent } from "../../src/events/new-event.ts";
import { accountStream, linkStream } from "../../src/events/streams.ts";
import { benchSlug, benchUrl, LINKS } from "../traffic/requests.ts";

const BATCH = 500;

export type SeedOrder = { accountId: string; links: number; slugOf?: (link: number) => string };

/** One account with links on the default host, as the same events that commands append. Returns the account's id. */
export async function seedLinks(backend: Backend, baseUrl: string, links = LINKS): Promise<string> {
  const accountId = randomUUID();
  await openBenchAccount(backend, accountId);
  await seedLinksOf(backend, baseUrl, { accountId, links });
  return accountId;
}

/** A Developer account, without e-mail address and password. */
export async function openBenchAccount(backend: Backend, accountId: string): Promise<void> {
  await appendFirst(backend, accountStream(accountId), {
    type: "AccountOpened",
    data: { accountId, at: new Date().toISOString(), tier: "developer" },
  });
}

/** Links of an existing account. `slugOf`: slug by number; by default those that the load generator requests. */
export async function seedLinksOf(
  backend: Backend,
  baseUrl: string,
  { accountId, links, slugOf = benchSlug }: SeedOrder,
): Promise<void> {
  const at = new Date().toISOString();
  const host = new URL(baseUrl).hostname;
  for (let first = 0; first < links; first += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, links - first) }, (_, i) => first + i);
    await Promise.all(
      batch.map((link) => {
        const slug = slugOf(link);
        const longUrl = benchUrl(link);
        const data = { host, slug, accountId, at, longUrl, shortUrl: `${baseUrl}/${slug}` };
        const event = { type: "LinkCreated" as const, data: { ...data, via: "api" as const, custom: false } };
        return appendFirst(backend, linkStream(host, slug), event);
      }),
    );
  }
}

function appendFirst({ eventStore }: Backend, stream: string, event: LinkledgerEvent) {
  const origin = { correlationId: "bench", causationId: "bench", actor: { type: "operator" as const } };
  return eventStore.append(stream, "none", [newEvent(event, randomUUID(), origin)]);
}
