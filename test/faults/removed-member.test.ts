// Who is removed from an account at one process is out of it in the other, too, within two seconds: the session, the key, and
// the streams that were open. On servers, and as workers on one folder.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster } from "../support/cluster/cluster.ts";
import { issuedKey, PASSWORD, visitor } from "../support/portal/browser-like.ts";
import { join } from "../support/portal/colleagues.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { stretched } from "../support/runtime/slowness.ts";
import { until } from "../support/runtime/until.ts";
import { mongodb } from "../support/servers/mongodb-server.ts";
import { redis } from "../support/servers/redis-server.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { send } from "../support/service/ask.ts";
import { type EventStream, eventStream } from "../support/service/event-stream.ts";
import { runCommand } from "../support/service/service-process.ts";
import { startOnWorkers } from "../support/service/worker-service.ts";

const PATIENT_MS = 400_000;
const WITHIN_MS = 2_000;
/** Both answer people and keys; one of them projects. */
const ROLES = ["api,portal,projector", "api,portal"] as const;

type Pair = {
  ports: readonly [number, number];
  command(...words: string[]): Promise<unknown>;
  stop(): Promise<void>;
};

onServer(mongodb, () => onServer(redis, () => removedMember("servers", onServers)));
removedMember("one folder", onWorkers);

async function onServers(): Promise<Pair> {
  const cluster = await startCluster();
  const [one, other] = await Promise.all([cluster.start(ROLES[0]), cluster.start(ROLES[1])]);
  await Promise.all([one.ready(), other.ready()]);
  return { ports: [one.port, other.port], command: cluster.command, stop: cluster.stop };
}

/** They take turns at answering on one port. */
async function onWorkers(): Promise<Pair> {
  const service = await startOnWorkers({ PLAN_PRICE: "9 USD a month" });
  const { port, config, stop } = service;
  const instance = { DATA_DIR: config.dataDir, PORT: String(port), BASE_URL: config.baseUrl };
  return { ports: [port, port], command: (...words) => runCommand(instance, ...words), stop };
}

function removedMember(where: string, start: () => Promise<Pair>): void {
  describe(`a member who is removed at one of two processes on ${where}`, () => {
    let pair: Pair;
    beforeAll(async () => {
      pair = await start();
    }, PATIENT_MS);
    afterAll(() => pair?.stop(), PATIENT_MS);

    it(
      "has no session, key or stream in either within two seconds",
      async () => {
        const [owner, member] = [at(pair.ports[0]), at(pair.ports[0])];
        await owner.submit("/portal/sign-up", { email: "owner@example.com", password: PASSWORD });
        await pair.command("account", "tier", "owner@example.com", "developer");
        await until("the plan", async () => (await owner.get("/portal")).text.includes(">Developer<"));
        const personId = await join(owner, member, "member@example.com", "editor");
        const key = await issuedKey(member);

        const cookie = member.cookie();
        /** Asked twice at a time, of each process where both answer on one port. */
        const both = async (holds: () => Promise<boolean>) =>
          (await Promise.all([holds(), holds()])).every((isTrue) => isTrue);
        const links = (port: number) => send(port, "/portal/links", { headers: { cookie } });
        const keyStatus = async (port: number) => (await send(port, "/api/v1/links", { key })).status;
        const streams: EventStream[] = [];
        for (const port of pair.ports) {
          expect([port, (await links(port)).status, await keyStatus(port)]).toEqual([port, 200, 200]);
          streams.push(await eventStream(port, "/portal/live", { cookie }));
          streams.push(await eventStream(port, "/api/v1/events/stream", { "x-api-key": key }));
        }
        for (const stream of streams) expect(await stream.next("alive")).toBeDefined();

        const since = performance.now();
        const removal = owner.submit("/portal/members", {}, `/portal/members/${personId}/remove`);
        const took: Record<string, number> = {};
        const end = async (what: string, ended: Promise<unknown>) => {
          await ended;
          took[what] = Math.round(performance.now() - since);
        };
        await Promise.all([
          end("answer", removal),
          ...pair.ports.flatMap((port, n) => [
            end(
              `session ${n}`,
              until("no account", () => both(async () => (await links(port)).status === 303)),
            ),
            end(
              `key ${n}`,
              until("no key", () => both(async () => (await keyStatus(port)) === 401)),
            ),
          ]),
          ...streams.map((stream, n) => end(`stream ${n}`, stream.next("never"))),
        ]);
        printCounts(`${where}, ms until a removed member was out`, took);
        expect(Object.keys(took)).toHaveLength(9);
        for (const [what, ms] of Object.entries(took))
          expect([what, ms < stretched(WITHIN_MS)]).toEqual([what, true]);
      },
      PATIENT_MS,
    );
  });
}

let addresses = 0;
const at = (port: number) => visitor(port, { address: `198.51.100.${++addresses}` });
