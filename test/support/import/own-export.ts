// An export of our own as lines that tests edit, and its import into an empty log.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LogVerification } from "../../../src/audit/verify-log.ts";
import { ownFiles } from "../../../src/cli/files.ts";
import type { LinkEvent, StoredEvent } from "../../../src/events/catalogue.ts";
import type { LinkOptions } from "../../../src/events/link-options.ts";
import { readEvent } from "../../../src/events/read-event.ts";
import { CATEGORY } from "../../../src/events/streams.ts";
import { accountLines } from "../../../src/transfer/export/account-lines.ts";
import { linkledger } from "../../../src/transfer/import/formats/linkledger.ts";
import type { ImportReport } from "../../../src/transfer/import/run-import.ts";
import { verified } from "../audit/verified.ts";
import { openCommandDeps } from "../commands/command-deps.ts";
import { loggedEvents } from "../event-store/logged-events.ts";
import { ACCOUNT, linkClicked, linkCreated } from "../event-store/stored-events.ts";
import { append, openStores } from "../runtime/stores.ts";
import { temporaryFolder } from "../runtime/temporary-folder.ts";
import { imported, newAccount } from "./importing.ts";

/** Of some password. */
export const HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$e5kx462mJpWIBADOTL6QeQ$NBgfWzzho/HGMkHulALrD9JAcnsY3el4SL9ZUg1tj00";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const at = (minute: number) => `2021-03-01T10:${String(minute).padStart(2, "0")}:00.000Z`;

/** What the link `off` carries from its creation on. */
export const CARRIED = {
  title: "Spring sale",
  comments: "Asked for by sales",
  tags: ["spring", "news letter"],
  externalId: "order-4711",
  activeFrom: "2021-03-01T00:00:00.000Z",
  expiresAt: "2999-03-01T00:00:00.000Z",
  expiredUrl: "https://example.com/over",
  maxClicks: 100,
  redirectCode: 307,
  forwardQuery: true,
  rules: [
    {
      id: "a1b2c3d4e5f6",
      name: "The app",
      when: {
        device: ["mobile"],
        os: ["iOS"],
        country: ["DE"],
        language: ["de"],
        query: [
          ["ref", "a"],
          ["b", true],
        ],
      },
      url: "https://example.com/app?utm_source=rule",
    },
    {
      id: "0b1c2d3e4f5a",
      when: { from: at(0), to: "2998-03-01T00:00:00.000Z", share: 33.3 },
      url: "https://example.com/b",
    },
  ],
} satisfies LinkOptions;

const [FIRST_PASSWORD, SECOND_PASSWORD] = [
  "c0a6f6d2-4b1f-4f0e-8a53-7d3c9e1b2a40",
  "d1b7a7e3-5c2a-4a1f-9b64-8e4d0f2c3b51",
] as const;

/**
 * The links `moved`, `gone` (restored, then deleted) and `off`, which carries all that a link can, lost its title later and
 * got another password, with four clicks; the first line is the file's own.
 */
export async function ownExport(): Promise<string[]> {
  const { eventStore, readStore, close } = await openStores();
  const secrets = { get: async (key: string) => (key.endsWith(SECOND_PASSWORD) ? HASH : undefined) };
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
    off: [
      {
        type: "LinkOptionsChanged",
        data: { ...of("off", 1), changes: { title: null, passwordId: SECOND_PASSWORD } },
      } satisfies LinkEvent,
      change("LinkDisabled", "off", 2),
    ],
  };
  const carried: Partial<Record<string, LinkOptions>> = { off: { ...CARRIED, passwordId: FIRST_PASSWORD } };
  const opened = { accountId: ACCOUNT, tier: "free", at: at(0) } as const;
  await append(eventStore, `account-${ACCOUNT}`, [{ type: "AccountOpened", data: opened }]);
  for (const [slug, changes] of Object.entries(links))
    await append(eventStore, `link-sho.rt/${slug}`, [
      linkCreated({ ...of(slug, 0), ...carried[slug] }),
      ...changes,
    ]);
  const moved = { link: "sho.rt/moved", userAgent: FIREFOX };
  await append(eventStore, "clicks-w-20210301", [
    linkClicked({ ...moved, at: at(1), utm: { campaign: "spring" } }),
    linkClicked({ ...moved, at: at(2), kind: "qr_scan", linkRevision: 1, longUrl: to }),
    linkClicked({ ...moved, at: at(3), kind: "preview", method: "HEAD", prefetch: "prefetch", referrer: "" }),
    linkClicked({
      ...{ link: "sho.rt/off", at: at(1), userAgent: "", ip: "2001:db8:5::", language: "" },
      ...{ rule: CARRIED.rules[0]?.id, longUrl: CARRIED.rules[0]?.url as string, method: "POST" },
    }),
  ]);
  const deps = { eventStore, readStore, secrets, baseHost: "sho.rt", clock: () => new Date(at(9)) };
  const parts = await Array.fromAsync(accountLines(deps, ACCOUNT, "account"));
  await close();
  return parts.join("").trimEnd().split("\n");
}

export type OwnImport = {
  accountId: string;
  deps: Awaited<ReturnType<typeof openCommandDeps>>["deps"];
  importLines(lines: readonly string[]): Promise<ImportReport>;
  /** Of the whole log, but for the account that was opened for the import. */
  events(): Promise<StoredEvent[]>;
  verify(): Promise<LogVerification>;
  close(): Promise<void>;
};

/** An empty log with one account, on `localhost`. */
export async function openImport(): Promise<OwnImport> {
  const [{ deps, close }, folder] = await Promise.all([openCommandDeps(), temporaryFolder()]);
  const { eventStore } = deps;
  const { accountId } = await newAccount(deps);
  return {
    accountId,
    deps,
    async importLines(lines) {
      const links = join(folder.path, "export.ndjson");
      await writeFile(links, lines.join("\n"));
      return await imported(deps, accountId, linkledger, ownFiles.source(links));
    },
    async events() {
      const recorded = await loggedEvents(eventStore, { categories: Object.values(CATEGORY), limit: 10_000 });
      return recorded
        .flatMap((event) => readEvent(event) ?? [])
        .filter(({ type }) => type !== "AccountOpened");
    },
    verify: () => verified(eventStore),
    async close() {
      await close();
      await folder.remove();
    },
  };
}
