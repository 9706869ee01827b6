// What cache news promise, within a process and between processes.
import { beforeAll, describe, expect, it } from "vitest";
import type { CacheNews, CacheNewsChannel } from "../../src/coordination/cache-news.ts";

/** Two handles, as two processes would have. */
export type CacheNewsFixture = { news: CacheNewsChannel; others: CacheNewsChannel; close(): Promise<void> };

export function cacheNewsContract(name: string, open: () => Promise<CacheNewsFixture>): void {
  describe(`cache news: ${name}`, () => {
    let fixture: CacheNewsFixture;
    beforeAll(async () => {
      fixture = await open();
      return () => fixture.close();
    });

    it("reach every listener in the order they were announced, the announcer's own too", async () => {
      const own = await listenTo(fixture.news);
      const other = await listenTo(fixture.others);
      const announced = Array.from({ length: 20 }, (_, revision) => link(revision));
      for (const news of announced) await fixture.news.announce(news);
      for (const { heard } of [own, other]) await expect.poll(() => heard).toEqual(announced);
      await own.stop();
      await other.stop();
    });

    it("reach nobody who has stopped listening", async () => {
      const stopped = await listenTo(fixture.others);
      const witness = await listenTo(fixture.others);
      await stopped.stop();
      await fixture.news.announce(link(1));
      await expect.poll(() => witness.heard).toHaveLength(1);
      expect(stopped.heard).toEqual([]);
      await witness.stop();
    });
  });
}

/** Resolves once listening has begun. */
export async function listenTo(channel: CacheNewsChannel) {
  const heard: CacheNews[] = [];
  const gaps = { count: 0 };
  const stop = channel.listen({
    onNews: (news) => void heard.push(news),
    onGap: () => {
      gaps.count += 1;
    },
  });
  await expect.poll(() => gaps.count).toBe(1);
  return { heard, gaps, stop };
}

export function link(revision: number): CacheNews {
  return { topic: "link", id: "localhost/abc", revision, position: String(revision) };
}
