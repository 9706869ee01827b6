// One running service: stores, threads and the HTTP server, opened in order and closed in reverse.
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { memoryRateLimits } from "./api/rate-limit.memory.ts";
import { buildApp } from "./app.ts";
import { type Backend, openBackend } from "./backend.ts";
import type { AnnouncedLink } from "./commands/append-link.ts";
import { chance } from "./commands/chance.ts";
import { urlSafety } from "./commands/url-safety.ts";
import { type Config, secretKeyOf } from "./config.ts";
import type { EventStore } from "./event-store/port.ts";
import { readiness } from "./health.ts";
import type { Logger } from "./logging.ts";
import { createMetrics } from "./metrics.ts";
import { allProjections } from "./projections/groups.ts";
import { startProjector } from "./projections/projector.ts";
import type { ProjectionStatus } from "./projections/status.ts";
import { findCaller } from "./queries/find-caller.ts";
import { readYourWrites } from "./read-your-writes.ts";
import { ClickRecorder, recorderThreadStarter } from "./redirect/click-recorder.ts";
import { runInvalidator } from "./redirect/invalidator.ts";
import { LinkLookup } from "./redirect/lookup.ts";
import type { RedirectStats } from "./redirect/route.ts";

export type Service = {
  /** Where it listens, such as http://127.0.0.1:3000. */
  url: string;
  backend: Backend;
  /** Finishes open requests, commits every click, then closes threads and stores. */
  stop(): Promise<void>;
};

/** For each part; draining clicks into a store that is away would take for ever. */
const LONGEST_CLOSE_MS = 8_000;
const MOST_COUNTED = 1000;

/** `clock`: what rate windows, links and analytics go by. @throws what listening throws, with all closed again */
export async function openService(given: Config, log: Logger, clock = chance.clock): Promise<Service> {
  const config: Config = { ...given, secretKey: secretKeyOf(given) };
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const close of closers.splice(0).reverse())
      await inTime(close()).catch((err: unknown) => log.error({ err }, "closing failed"));
  };
  try {
    const backend = await openBackend(config, { offThreadEventStore: true });
    closers.push(() => backend.close());
    const app = await appOf({ config, log, clock, backend, closers });
    closers.push(() => app.close());
    const url = await app.listen({ port: config.port, host: config.host });
    return { url, backend, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Opening = {
  config: Config;
  log: Logger;
  clock: () => Date;
  backend: Backend;
  closers: (() => Promise<unknown>)[];
};

async function appOf({ config, log, clock, backend, closers }: Opening) {
  const { baseHost, baseUrl } = config;
  const { eventStore, readStore } = backend;
  const { random, newId, sleep, randomSlug } = chance;

  const projector = startProjector(config, log);
  closers.push(() => projector.stop());
  const recorder = openRecorder(config, log);
  closers.push(() => recorder.close());
  const lookup = new LinkLookup({ eventStore, readStore, baseHost });
  const ended = new AbortController();
  const warn = (message: string) => log.warn(message);
  const following = runInvalidator({ eventStore, readStore, lookup, random, log: warn }, ended.signal);
  closers.push(() => {
    ended.abort();
    return following;
  });

  const stats: RedirectStats = { found: 0, notFound: 0, disabled: 0, error: 0 };
  const projections = () => projector.status();
  const eventsBehind = ({ name, position }: ProjectionStatus) => countBehind(eventStore, name, position);
  const recorderStats = () => recorder.stats();
  const fresh = readYourWrites({ eventStore, readStore, sleep });
  const commands = { eventStore, clock, newId, random, sleep };
  const rateLimits = memoryRateLimits(clock);
  const links = {
    ...commands,
    baseUrl,
    baseHost,
    randomSlug,
    urlSafety: urlSafety({ ...config, log }),
    announce: (link: AnnouncedLink) => lookup.prime(link),
    log,
  };
  return buildApp({
    config,
    backend,
    log,
    clock,
    newId,
    sleep,
    keys: {
      clock,
      rateLimits,
      findCaller: (keyHash) => findCaller({ readStore }, keyHash),
      keysAreCurrent: fresh.keysAreCurrent,
    },
    links,
    portal: {
      ...{ ...commands, readStore, secrets: backend.secrets, rateLimits, links, log },
      ...{ baseUrl, baseHost, keyPrefix: config.keyPrefix, secretKey: secretKeyOf(config) },
      ...{ randomKey: chance.randomKey, randomToken: chance.randomToken, whenReadable: fresh.whenReadable },
    },
    redirect: { lookup, recorder, baseHost, now: () => clock().getTime(), stats },
    metrics: createMetrics({ redirects: () => stats, recorder: recorderStats, projections, eventsBehind }),
    readiness: () => readiness({ eventStore, readStore, projections, recorder: recorderStats }),
    wrote: fresh.wrote,
    ownWritesAreReadable: fresh.ownWritesAreReadable,
  });
}

/** @throws when it takes longer than eight seconds; it goes on in the background then */
async function inTime(closing: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const late = delay(LONGEST_CLOSE_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`not closed within ${LONGEST_CLOSE_MS} ms`);
  });
  late.catch(() => undefined);
  await Promise.race([closing, late]).finally(() => timer.abort());
}

/** Counted up to 1,000, so that a scrape during a long catch-up costs no more. */
async function countBehind(eventStore: EventStore, name: string, position: string | null): Promise<number> {
  const prefixes = allProjections.find((projection) => projection.name === name)?.prefixes ?? [];
  const options = { after: position ?? undefined, prefixes, limit: MOST_COUNTED };
  return (await eventStore.readAll(options)).length;
}

function openRecorder(config: Config, log: Logger): ClickRecorder {
  return new ClickRecorder({
    durability: config.clickDurability,
    startThread: recorderThreadStarter(config, randomBytes(8).toString("hex")),
    random: chance.random,
    log: (message) => log.warn(message),
  });
}
