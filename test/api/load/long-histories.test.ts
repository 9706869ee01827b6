// An account and a link whose streams are at their length limits, used from the portal and the command line.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import type { LinkledgerEvent } from "../../../src/events/catalogue.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { accountStream, linkStream } from "../../../src/events/streams.ts";
import { STREAM_LIMITS } from "../../../src/events/vocabulary.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { until } from "../../support/runtime/until.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const at = "2026-01-01T00:00:00.000Z";

describe("a history that is as long as it may be", { timeout: 120_000 }, () => {
  let service: TestService;
  let person: Person;
  let page: string;
  beforeAll(async () => {
    service = await startTestService({ TRUST_PROXY: "loopback" });
    const people = portalPeople(service);
    person = await people.person();
    page = await people.shorten(person, "https://example.com/");
    await fill(accountStream(person.accountId), keysOf(person.accountId));
    const [host = "", slug = ""] = page.split("/").slice(-2);
    await fill(linkStream(host, slug), changesOf({ host, slug, accountId: person.accountId, at }));
    await until("all keys", async () => (await person.get("/portal/keys")).text.includes("the last 100"));
  }, 120_000);
  afterAll(() => service.stop());

  /** Appends in small batches, so that the store keeps single rows as for commands. */
  async function fill(stream: string, events: readonly LinkledgerEvent[]): Promise<void> {
    const ATOMIC = 10;
    const { eventStore } = service.backend;
    const origin = { correlationId: "test", causationId: "test", actor: { type: "operator" } } as const;
    let revision = (await eventStore.read(stream)).length - 1;
    const appends = [];
    for (let start = 0; start < events.length; start += ATOMIC) {
      const some = events
        .slice(start, start + ATOMIC)
        .map((one) => newEvent(one, runtimeDeps.newId(), origin));
      appends.push(eventStore.append(stream, revision, some));
      revision += some.length;
    }
    await Promise.all(appends);
  }

  it("refuses another key in the portal, and says what to do instead", async () => {
    const answer = await person.submit("/portal/keys", { label: "one more" });
    expect(answer.text).toContain("This account has been issued 1000 API keys");
    expect(answer.text).toContain("open another account");
  });

  it("refuses another key on the command line, in one line", async () => {
    const { refused } = commandLine(service.config.dataDir);
    const line = await refused("key", "issue", "--account", person.accountId);
    expect(line).toMatch(/^.*This account has been issued 1000 API keys.*open another account\n?$/);
  });

  it("shows active keys and the last 100 of the others", async () => {
    const { text } = await person.get("/portal/keys");
    expect(text.match(/Deactivated<\/span>/g)).toHaveLength(100);
  });

  it("refuses a change of the link with 409, and lets it be disabled and deleted", async () => {
    const refused = await person.post(`${page}/edit`, { url: "https://example.com/b" });
    const why = service.logged.findLast((line) => line.includes("request failed"));
    expect(refused.status, why).toBe(409);
    expect(refused.text).toContain("This link has been changed 1000 times");
    expect(refused.text).toContain("for anything else make a new link");
    expect((await person.post(`${page}/disable`, {})).status).toBe(303);
    expect((await person.post(`${page}/enable`, {})).status).toBe(409);
    expect((await person.post(`${page}/delete`, {})).status).toBe(303);
    expect((await person.post(`${page}/restore`, {})).status).toBe(409);
  });
});

/** Keys that are issued and then deactivated. */
function keysOf(accountId: string): LinkledgerEvent[] {
  return Array.from({ length: STREAM_LIMITS.keysIssued }, (_, n): LinkledgerEvent[] => {
    const keyId = runtimeDeps.newId();
    const keyHash = n.toString(16).padStart(64, "0");
    return [
      { type: "KeyIssued", data: { accountId, keyId, keyHash, hint: "abcd", label: `Key ${n}`, at } },
      { type: "KeyDeactivated", data: { accountId, keyId, at } },
    ];
  }).flat();
}

/** Alternately disabled and enabled; live at the end. */
function changesOf(of: { host: string; slug: string; accountId: string; at: string }): LinkledgerEvent[] {
  return Array.from({ length: STREAM_LIMITS.linkChanges }, (_, n) => ({
    type: n % 2 ? "LinkEnabled" : "LinkDisabled",
    data: of,
  }));
}
