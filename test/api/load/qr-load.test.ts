// QR images as a stranger would ask for them: the largest ones at once, and what redirects feel of it.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRedirectLoad } from "../../support/redirect/redirect-load.ts";
import { stretched } from "../../support/runtime/slowness.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import {
  accountWithKeys,
  instanceOf,
  type ServiceProcess,
  startService,
} from "../../support/service/service-process.ts";

/** 4,758 ms while the images were drawn on the HTTP thread. */
const WORST_REDIRECT_MS = 150;
const ROUNDS = 5;
const ASKED_PER_SECOND = 333;

describe("six QR images of 2,048 pixels at once", () => {
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

  /** Milliseconds of the slowest redirect while they are drawn; none of them was drawn before. */
  async function worstRedirect(round: number): Promise<number> {
    const load = startRedirectLoad(`round-${round}`, service.url, [slug], ASKED_PER_SECOND);
    await load.answeredMore(50);
    const draw = async (dark: string) => {
      const query = `size=2048&margin=0&ecc=H&dark=${round}${dark}`;
      const response = await fetch(`${service.url}/api/qr/${slug}?${query}`);
      return [response.status, (await response.arrayBuffer()).byteLength > 0];
    };
    const drawn = await Promise.all(["00", "11", "22", "33", "44", "55"].map(draw));
    expect(drawn).toEqual(drawn.map(() => [200, true]));
    await load.answeredMore(20);
    await load.stop();
    expect(load.failed).toEqual(new Map());
    return Math.max(...[...load.answered.values()].map(({ ms }) => ms));
  }

  it("keep no redirect waiting", { timeout: 120_000 }, async () => {
    const rounds: number[] = [];
    // Another program that takes the processor for a moment spoils a round; what the service does spoils each.
    while (rounds.length < ROUNDS && !(Math.min(...rounds) < WORST_REDIRECT_MS))
      rounds.push(await worstRedirect(rounds.length));
    expect(Math.min(...rounds)).toBeLessThan(stretched(WORST_REDIRECT_MS));
  });
});
