// An export of our own as lines that tests edit, and its import into an empty log.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { verifyLog } from "../../../src/audit/verify-log.ts";
import { loadOpenAccount } from "../../../src/commands/account/accounts.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import type { LinkEvent, StoredEvent } from "../../../src/events/catalogue.ts";
import { readEvent } from "../../../src/events/read-event.ts";
import { CATEGORY } from "../../../src/events/streams.ts";
import { accountLines } from "../../../src/export/account-lines.ts";
import { linkledger } from "../../../src/import/formats/linkledger.ts";
import { type ImportReport, runImport } from "../../../src/import/run-import.ts";
import { openCommandDeps, operator } from "../commands/command-deps.ts";
import { ACCOUNT, linkClicked, linkCreated } from "../event-store/stored-events.ts";
import { append, openStores } from "../runtime/stores.ts";
import { temporaryFolder } from "../runtime/temporary-folder.ts";

/** Of some password. */
export const HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$e5kx462mJpWIBADOTL6QeQ$NBgfWzzho/HGMkHulALrD9JAcnsY3el4SL9ZUg1tj00";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const at = (minute: number) => `2021-03-01T10:${String(minute).padStart(2, "0")}:00.000Z`;

/** The links `moved`, `gone` (restored, then deleted) and `off`, with four clicks; the first line is the file's own. */
export async function ownExport(): Promise<string[]> {
  const { eventStore, close } = await openStores();
  const secrets = { get: async () => HASH };
  const of = (slug: string, minute: number) => ({ host: "sho.rt", slug, accountId: ACCOUNT, at: at(minute) });
  const change = (type: "LinkDisabled" | "LinkDeleted" | "LinkRestored", slug: string, minute: number) =>
    ({ type, data: of(slug, minute) }) satisfies LinkEvent;
  const [from, to] = ["https://example.com/", "https://example.com/to?utm_source=link"];
  const retargeted: LinkEvent = { type: "LinkRetargeted", data: { ...of("moved", 1), from, to } };
  const links = {
    moved: [retargeted],
    gone: [
      change("LinkDeleted", "gone", 1),
      change("LinkRestored", "gone", 2),
      change("LinkDeleted", "gone", 3),
    ],
    off: [change("LinkDisabled", "off", 1)],
  };
  const opened = { accountId: ACCOUNT, tier: "free", at: at(0) } as const;
  await append(eventStore, `account-${ACCOUNT}`, [{ type: "AccountOpened", data: opened }]);
  for (const [slug, changes] of Object.entries(links))
    await append(eventStore, `link-sho.rt/${slug}`, [linkCreated(of(slug, 0)), ...changes]);
  const moved = { link: "sho.rt/moved", userAgent: FIREFOX };
  await append(eventStore, "clicks-w-20210301", [
    linkClicked({ ...moved, at: at(1), utm: { campaign: "spring" } }),
    linkClicked({ ...moved, at: at(2), kind: "qr_scan", linkRevision: 1, longUrl: to }),
    linkClicked({ ...moved, at: at(3), kind: "preview", method: "HEAD", prefetch: "prefetch", referrer: "" }),
    linkClicked({ link: "sho.rt/off", at: at(1), userAgent: "", ip: "2001:db8:5::", language: "" }),
  ]);
  const deps = { eventStore, secrets, baseHost: "sho.rt", clock: () => new Date(at(9)) };
  const parts = await Array.fromAsync(accountLines(deps, ACCOUNT, "account"));
  await close();
  return parts.join("").trimEnd().split("\n");
}

export type OwnImport = {
  accountId: string;
  importLines(lines: readonly string[]): Promise<ImportReport>;
  /** Of the whole log, but for the account that was opened for the import. */
  events(): Promise<StoredEvent[]>;
  verify(): Promise<Awaited<ReturnType<typeof verifyLog>>>;
  close(): Promise<void>;
};

/** An empty log with one account, on `localhost`. */
export async function openImport(): Promise<OwnImport> {
  const [{ deps, close }, folder] = await Promise.all([openCommandDeps(), temporaryFolder()]);
  const { eventStore } = deps;
  const { accountId } = await openAccount(deps, operator, { email: "a@example.com", tier: "developer" });
  return {
    accountId,
    async importLines(lines) {
      const links = join(folder.path, "export.ndjson");
      await writeFile(links, lines.join("\n"));
      const account = await loadOpenAccount(eventStore, accountId);
      const target = { account, context: operator, domain: undefined, keyId: undefined, dryRun: false };
      return await runImport(deps, target, { format: linkledger, links, clicks: undefined });
    },
    async events() {
      const recorded = await eventStore.readAll({ categories: Object.values(CATEGORY), limit: 10_000 });
      return recorded
        .flatMap((event) => readEvent(event) ?? [])
        .filter(({ type }) => type !== "AccountOpened");
    },
    verify: () => verifyLog({ eventStore, clock: deps.clock }),
    async close() {
      await close();
      await folder.remove();
    },
  };
}
