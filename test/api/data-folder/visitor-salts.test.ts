// Visitor codes can't be traced to an address from a backup, and unique visitors are counted across a restart.

import { describe, expect, it } from "vitest";
import type { LinkClicked } from "../../../src/events/catalogue.ts";
import { visitorCodes } from "../../../src/redirect/clicks/visitors/visitor.ts";
import { openBackend } from "../../../src/service/stores/backend.ts";
import { bytesIn, testDataFolder } from "../../support/data-folder/test-data-folder.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import type { TestService } from "../../support/service/start-service.ts";

const ADDRESS = "203.0.113.77";
const AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

type Click = LinkClicked["data"];

describe("the salt of a day's visitor codes", () => {
  const { dataDir, start, backUp } = testDataFolder({ TRUST_PROXY: "127.0.0.1/32" });

  it("is in no backup: none of the 256 addresses that an event may stand for can be distinguished from the others", async () => {
    const service = await start();
    await visit(service, await newLink(service));
    await service.stop();
    const backup = await backUp();
    const salts = await saltsIn(backup);
    const clicks = await clicksIn(backup);
    expect(clicks).toMatchObject([{ ip: "203.0.113.0", visitor: expect.stringMatching(/^[0-9a-f]{16}$/) }]);
    expect(addressesFoundIn(clicks, salts)).toEqual([]);
    // Positive control: with the data folder, which holds the salt, the same search finds the address.
    expect(addressesFoundIn(clicks, await saltsIn(dataDir()))).toEqual([ADDRESS]);
  });

  it("survives a restart within its day, so that nobody is counted twice", async () => {
    const first = await start();
    const slug = await newLink(first);
    await visit(first, slug);
    await first.stop();
    const second = await start();
    await visit(second, slug);
    await second.stop();
    const visitors = (await clicksIn(dataDir())).map(({ visitor }) => visitor);
    expect(visitors).toHaveLength(2);
    expect(new Set(visitors).size).toBe(1);
  });

  async function newLink(service: TestService): Promise<string> {
    const { key } = await service.member("developer");
    const { body } = await service.post<{ slug: string }>("/api/v1/shorten", key, {
      url: "https://example.com/",
    });
    return body.slug;
  }

  async function visit(service: TestService, slug: string): Promise<void> {
    const headers = { "x-forwarded-for": ADDRESS, "user-agent": AGENT };
    expect((await service.ask(`/${slug}`, { headers })).status).toBe(301);
  }
});

async function clicksIn(dataDir: string): Promise<Click[]> {
  const backend = await openBackend({ dataDir });
  try {
    const events = await loggedEvents(backend.eventStore, { categories: ["clicks"], limit: 100 });
    return events.map(({ data }) => data as Click);
  } finally {
    await backend.close();
  }
}

/** Everything that could be a salt: any 32 bytes in base64, in the files as they are and in the decrypted secrets. */
async function saltsIn(dataDir: string): Promise<string[]> {
  const texts = [await bytesIn(dataDir)];
  const backend = await openBackend({ dataDir });
  for (const { value } of await backend.secrets.list("", new Date())) texts.push(JSON.stringify(value));
  await backend.close();
  return [...new Set(texts.flatMap((text) => text.match(/[A-Za-z0-9+/]{43}=/g) ?? []))];
}

/** Tries each address of the anonymised network with each salt. */
function addressesFoundIn(clicks: readonly Click[], salts: readonly string[]): string[] {
  const codes = salts.map((salt) => visitorCodes(Buffer.from(salt, "base64")));
  return clicks.flatMap(({ ip = "", userAgent = "", link, accountId, visitor, accountVisitor }) => {
    const isLinked = (address: string) =>
      codes.some((code) => {
        const [ofLink, ofAccount] = [link, accountId].map((of) => code({ address, userAgent, of }));
        return ofLink === visitor || ofAccount === accountVisitor;
      });
    return Array.from({ length: 256 }, (_, host) => ip.replace(/\d+$/, String(host))).filter(isLinked);
  });
}
