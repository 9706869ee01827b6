// Redirect latency while the largest QR images are requested concurrently.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRedirectLoad } from "../../support/redirect/redirect-load.ts";
import { isLong } from "../../support/runtime/effort.ts";
import { stretched } from "../../support/runtime/slowness.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import {
  accountWithKeys,
  instanceOf,
  type ServiceProcess,
  startService,
} from "../../support/service/service-process.ts";

/** It was 4,758 ms when all of the drawing ran on the HTTP thread. */
const WORST_REDIRECT_MS = 150;
const ROUNDS = 5;
const ASKED_PER_SECOND = 333;

describe.runIf(isLong)("six concurrent QR images of 2,048 pixels", () => {
  let folder: TemporaryFolder;
  let service: ServiceProcess;
  let slug: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const instance = await instanceOf(folder.path);
    service = await startService(instance);
    const { keys } = await accountWithKeys(instance, "free", 1);
    const response = await fetch(`${service.url}/api/v1/shorten`, {
      method: "POST",
      headers: { "x-api-key": String(keys[0]), "content-type": "application/json" },
      body: JSON.stringify({ url: "https://example.com/" }),
    });
    ({ slug } = (await response.json()) as { slug: string });
  }, 120_000);
  afterAll(async () => {
    await service?.stop();
    await folder.remove();
  });

  /** Latency of the slowest redirect, in milliseconds, while images are drawn. */
  async function worstRedirect(round: number): Promise<number> {
    const load = startRedirectLoad(`round-${round}`, service.url, [slug], ASKED_PER_SECOND);
    await load.answeredMore(50);
    const draw = async () => {
      const response = await fetch(`${service.url}/api/qr/${slug}?size=2048&margin=2&ecc=H`);
      return [response.status, (await response.arrayBuffer()).byteLength > 0];
    };
    const drawn = await Promise.all(Array.from({ length: 6 }, draw));
    expect(drawn).toEqual(drawn.map(() => [200, true]));
    await load.answeredMore(20);
    await load.stop();
    expect(load.failed).toEqual(new Map());
    return Math.max(...[...load.answered.values()].map(({ ms }) => ms));
  }

  it("keep no redirect waiting", { timeout: 120_000 }, async () => {
    const rounds: number[] = [];
    // Other programs can slow down some rounds; a fault of the service slows down all of them.
    while (rounds.length < ROUNDS && !(Math.min(...rounds) < WORST_REDIRECT_MS))
      rounds.push(await worstRedirect(rounds.length));
    expect(Math.min(...rounds)).toBeLessThan(stretched(WORST_REDIRECT_MS));
  });
});
