// Links that were created while the URL safety check was unavailable: rechecked, and disabled when unsafe.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import type { UrlSafety } from "../../../src/commands/links/accept-url.ts";
import { changeLink } from "../../../src/commands/links/change-link.ts";
import { createLink } from "../../../src/commands/links/create-link.ts";
import { currentLink } from "../../../src/commands/links/link-stream.ts";
import { waitingRechecks } from "../../../src/commands/links/url-safety.ts";
import { CATEGORY, linkStream } from "../../../src/events/streams.ts";
import { recheckWaiting } from "../../../src/service/jobs/url-rechecks.ts";
import { callerOf, openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";

const URL_GIVEN = "https://later.example/offer";

describe("a link whose URL could not be checked", () => {
  let stores: Awaited<ReturnType<typeof openCommandDeps>>;
  let by: ReturnType<typeof callerOf>;
  let slug: string;
  let known: "safe" | "unsafe" | "unknown";
  let now: Date;
  let warnings: string[];
  const deps = () => ({
    ...stores.deps,
    clock: () => now,
    urlSafety: async () => [known],
    log: { info: () => undefined, warn: (_: object, message = "") => void warnings.push(message) },
  });
  const recheck = () => recheckWaiting(deps(), new AbortController().signal);
  const link = () => currentLink(stores.deps.eventStore, { host: "localhost", slug });
  const waiting = () => waitingRechecks(deps());
  const change = (type: "enable" | "disable" | "delete" | "restore") =>
    changeLink(deps(), operator, by, { host: "localhost", slug }, { type });

  beforeEach(async () => {
    stores = await openCommandDeps();
    [known, now, warnings] = ["unknown", new Date(), []];
    const { accountId } = await openAccount(stores.deps, operator, { email: "a@example.com", tier: "free" });
    by = callerOf(accountId, "free");
    ({
      link: { slug },
    } = await createLink(deps(), operator, by, { url: URL_GIVEN }));
  });
  afterEach(() => stores.close());

  it("works, and is rechecked until the check is available", async () => {
    expect([await recheck(), await recheck()]).toEqual([0, 0]);
    expect(await link()).toMatchObject({ status: "live", longUrl: URL_GIVEN });
    expect(await waiting()).toMatchObject([{ host: "localhost", slug, longUrl: URL_GIVEN }]);
  });

  it("keeps working when its URL turns out to be safe", async () => {
    known = "safe";
    expect([await recheck(), await recheck()]).toEqual([1, 0]);
    expect(await link()).toMatchObject({ status: "live" });
    expect(await waiting()).toEqual([]);
  });

  it("is disabled by the service when its URL turns out to be unsafe, and can't be enabled again", async () => {
    known = "unsafe";
    expect(await recheck()).toBe(1);
    expect(await link()).toMatchObject({ status: "disabled" });
    expect(warnings).toEqual(["disabled a link whose address turned out to be unsafe"]);
    const [last] = await stores.deps.eventStore.read(linkStream("localhost", slug), { backwards: true });
    expect(last).toMatchObject({
      type: "LinkDisabled",
      metadata: { actor: { type: "system", id: "url-check" } },
    });
    await expect(change("enable")).rejects.toMatchObject({ code: "unsafe_url" });
    expect(await waiting()).toEqual([]);
  });

  it("is not disabled when it was retargeted meanwhile", async () => {
    known = "safe";
    const elsewhere = { type: "patch", patch: { url: "https://www.example.com/" } } as const;
    await changeLink(deps(), operator, by, { host: "localhost", slug }, elsewhere);
    known = "unsafe";
    now = new Date(now.getTime() + 11 * 60_000);
    expect(await recheck()).toBe(1);
    expect(await link()).toMatchObject({ status: "live" });
    expect(await waiting()).toEqual([]);
  });

  it("is rechecked when it was retargeted or enabled unchecked", async () => {
    known = "safe";
    await recheck();
    known = "unknown";
    const elsewhere = { type: "patch", patch: { url: "https://other.example/" } } as const;
    await changeLink(deps(), operator, by, { host: "localhost", slug }, elsewhere);
    expect(await waiting()).toMatchObject([{ longUrl: elsewhere.patch.url }]);
    known = "safe";
    await recheck();
    await change("disable");
    known = "unknown";
    await change("enable");
    expect(await waiting()).toMatchObject([{ longUrl: elsewhere.patch.url }]);
  });

  it("is not made unless its recheck is noted", async () => {
    const made = () => loggedEvents(stores.deps.eventStore, { categories: [CATEGORY.link], limit: 10 });
    const before = await made();
    const recheckLater = () => Promise.reject(new Error("cut off"));
    const making = createLink({ ...deps(), recheckLater }, operator, by, { url: URL_GIVEN });
    await expect(making).rejects.toThrow("cut off");
    expect(await made()).toEqual(before);
  });

  it("is checked again before it is restored", async () => {
    await change("delete");
    known = "unsafe";
    await expect(change("restore")).rejects.toMatchObject({ code: "unsafe_url" });
    expect(await link()).toMatchObject({ status: "deleted" });
    known = "safe";
    await change("restore");
    expect(await link()).toMatchObject({ status: "live" });
  });

  it("is rechecked although the check of another URL always fails", async () => {
    const longUrl = "https://never.example/";
    await stores.deps.recheckLater({ host: "localhost", slug: "0", longUrl });
    const urlSafety: UrlSafety = async (urls) =>
      urls.map(({ hostname }) => (hostname === "never.example" ? "unknown" : "safe"));
    for (const random of [() => 0, () => 0.5])
      await recheckWaiting({ ...deps(), urlSafety, random }, new AbortController().signal);
    expect(await waiting()).toMatchObject([{ longUrl }]);
  });
});
