// What every role keeps in memory hears of changes by other processes: by news at once, by events for certain.
import { chance } from "../commands/chance.ts";
import type { CacheNews } from "../coordination/cache-news.ts";
import { type ChangeListener, followChanges } from "../coordination/follow-changes.ts";
import type { Opening } from "./opening.ts";

/** What a role does with news, and with the events that always follow. */
export type HeardChanges = { events: ChangeListener; news: (news: CacheNews) => void };

export function openChanges({ log, backend, onStop }: Opening, roles: readonly HeardChanges[]): void {
  if (roles.length === 0) return;
  const { eventStore, readStore, cacheNews } = backend;
  const stopListening = cacheNews.listen({
    onNews: (news) => {
      for (const role of roles) role.news(news);
    },
    // The events tell what was missed.
    onGap: () => undefined,
  });
  const ended = new AbortController();
  const listeners = roles.map(({ events }) => events);
  const warn = (message: string) => log.warn(message);
  const following = followChanges(
    { eventStore, readStore, listeners, random: chance.random, log: warn },
    ended.signal,
  );
  onStop(async () => {
    ended.abort();
    await stopListening();
    await following;
  });
}
