// The event store over TLS with a password, by an authority of our own.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openEventStoreDb } from "../../src/stores/event-store/eventstoredb/event-store.ts";
import { START } from "../../src/stores/event-store/port.ts";
import { startDouble } from "../support/event-store/eventstoredb-double/double.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { certificateFor, makeAuthority } from "../support/servers/test-certificates.ts";

const PASSWORD = "hush:@/?&";

async function secured() {
  const folder = await temporaryFolder();
  const authority = makeAuthority();
  const [trusted, other] = ["ca.crt", "other.crt"].map((name) => join(folder.path, name)) as [string, string];
  await writeFile(trusted, authority.cert);
  await writeFile(other, makeAuthority("Another").cert);
  const double = await startDouble({
    certificate: certificateFor(authority, ["localhost"]),
    passwords: { admin: PASSWORD },
  });
  onTestFinished(async () => {
    await double.close();
    await folder.remove();
  });
  const open = async (url: string) => {
    const store = await openEventStoreDb(url, { timeoutMs: 2_000 });
    onTestFinished(() => store.close());
    return store;
  };
  return { url: double.connectionString, trusted, other, open };
}

it("is appended to, read and followed", async () => {
  const { url, trusted, open } = await secured();
  const store = await open(`${url}&tlsCAFile=${encodeURIComponent(trusted)}`);
  await store.append("link-a", "none", sampleEvents(30));
  expect(await store.read("link-a")).toHaveLength(30);
  expect(await loggedEvents(store, { categories: ["link"], limit: 20 })).toHaveLength(20);
  for await (const batch of store.subscribe({
    after: START,
    categories: ["link"],
    signal: AbortSignal.timeout(10_000),
  })) {
    expect(batch.events[0]?.revision).toBe(0);
    break;
  }
});

it("refuses a wrong password at once, in words without it", async () => {
  const { url, trusted, open } = await secured();
  const wrong = url.replace(encodeURIComponent(PASSWORD), "wrong-hush");
  const store = await open(`${wrong}&tlsCAFile=${encodeURIComponent(trusted)}`);
  const refused = /^The event store refuses the request: 16 UNAUTHENTICATED(?!.*hush)/;
  await expect(store.append("link-a", "none", sampleEvents(1))).rejects.toThrow(refused);
  await expect(store.read("link-a")).rejects.toThrow(refused);
  await expect(store.head()).rejects.toThrow(refused);
});

it("is unavailable behind a certificate of another authority", async () => {
  const { url, other, open } = await secured();
  const store = await open(`${url}&tlsCAFile=${encodeURIComponent(other)}`);
  const outcome = store.append("link-a", "none", sampleEvents(1));
  await expect(outcome).rejects.toMatchObject({ code: "store_unavailable" });
  await expect(outcome).rejects.toThrow(/^(?!.*hush)/s);
});
