// The threads of a service, each killed while it works: the log says so, and what it did goes on.
import type { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/runtime/until.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

type Analytics = { analytics: { totalClicks: number } };

describe("a service", () => {
  const threads: Worker[] = [];
  const keep = (thread: Worker) => void threads.push(thread);
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    process.on("worker", keep);
    service = await startTestService({ CLICK_DURABILITY: "durable" });
    ({ key } = await service.member("developer"));
  });
  afterAll(async () => {
    process.off("worker", keep);
    await service.stop();
  });

  async function kill(name: string): Promise<void> {
    await threads.findLast((thread) => thread.threadName === name)?.terminate();
    const line = `"msg":"${name} thread ended, starting it again"`;
    expect(service.logged.some((logged) => logged.includes(line))).toBe(true);
  }
  async function shorten(): Promise<string> {
    const made = await service.post<{ slug: string }>("/api/v1/shorten", key, {
      url: "https://example.com/",
    });
    expect(made.status).toBe(201);
    return made.body.slug;
  }
  const visit = async (slug: string) => (await service.ask(`/${slug}`)).status;
  const isCounted = (slug: string, clicks: number) =>
    until(`${clicks} clicks to be counted`, async () => {
      const { body } = await service.ask<Analytics>(`/api/v1/analytics/${slug}`, { key });
      return body.analytics.totalClicks === clicks;
    });
  const isReady = () =>
    until("the service to be ready", async () => (await service.ask("/health/ready")).status === 200);

  it("counts, and routes clicks to webhooks, again after the background thread was killed", async () => {
    const slug = await shorten();
    expect(await visit(slug)).toBe(301);
    await isCounted(slug, 1);
    await kill("background");
    expect(await visit(slug)).toBe(301);
    await isCounted(slug, 2);
    await isReady();
    const started = service.logged.filter((line) => line.includes('"msg":"started: webhooks"'));
    expect(started).toHaveLength(2);
  });

  it("stores clicks, links and secrets again after the writer thread was killed", async () => {
    const slug = await shorten();
    await kill("writer");
    expect(await visit(slug)).toBe(301);
    expect(await visit(await shorten())).toBe(301);
    await service.member("free");
    await isCounted(slug, 1);
  });

  it("searches again after the reader thread was killed", async () => {
    const list = () => service.ask("/api/v1/links?q=example", { key });
    expect((await list()).status).toBe(200);
    await kill("reader");
    expect((await list()).status).toBe(200);
  });
});
