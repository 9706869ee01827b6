// Processes of several roles that stop one after the other: the last one seals what it has appended, whoever sealed before.
import { expect, it, onTestFinished } from "vitest";
import { judgedSeals } from "../../src/audit/seals/read-seals.ts";
import { ALL_CATEGORIES, CATEGORY, SEALS_STREAM } from "../../src/events/streams.ts";
import { startCluster } from "../support/cluster/cluster.ts";
import { onOwnServers } from "../support/cluster/own-servers.ts";
import { loggedTexts } from "../support/event-store/logged-events.ts";

onOwnServers(() =>
  it("have no unsealed click when all have stopped", { timeout: 300_000 }, async () => {
    const cluster = await startCluster();
    onTestFinished(() => cluster.stop());
    const background = await cluster.start("api,projector,webhooks");
    const redirects = await cluster.start("redirect");
    const { key } = await cluster.member("free");
    const asked = { method: "POST", key, body: { url: "https://example.com/" } };
    const { slug } = (await background.ask<{ slug: string }>("/api/v1/shorten", asked)).body;
    await redirects.ready();
    const visit = async () => expect((await redirects.ask(`/${slug}`)).status).toBe(301);
    for (let n = 0; n < 5; n++) await visit();
    await background.end();
    for (let n = 0; n < 7; n++) await visit();
    await redirects.end();
    const { eventStore } = cluster.backend;
    const [newest] = await judgedSeals(eventStore, []);
    const all = await loggedTexts(eventStore, { categories: ALL_CATEGORIES, limit: 10_000 });
    const isClick = ({ stream }: { stream: string }) => stream.startsWith(`${CATEGORY.clicks}-`);
    expect(all.filter(isClick)).toHaveLength(12);
    const behind = all.filter(({ position }) => position > (newest?.seal?.position ?? ""));
    expect(behind.filter(({ stream }) => stream !== SEALS_STREAM)).toEqual([]);
  }),
);
