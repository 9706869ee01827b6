// examples/read-click-table.mjs prints an account's clicks from its tables, without our code.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "vitest";
import { withdrawalStream } from "../../src/events/streams.ts";
import { clicks } from "../../src/projections/groups.ts";
import type { ReadStore } from "../../src/stores/read-store/port.ts";
import { ACCOUNT, linkClicked, OTHER_ACCOUNT } from "../support/event-store/stored-events.ts";
import { foldGroups } from "../support/projections/fold-groups.ts";
import { clicksWithdrawn } from "../support/projections/withdrawal-events.ts";
import { append, openStores } from "../support/runtime/stores.ts";

const SCRIPT = fileURLToPath(new URL("../../examples/read-click-table.mjs", import.meta.url));

/** `where`: the file or URL of the read store. */
export async function expectPrintedTable(readStore: ReadStore, where: string): Promise<void> {
  const { eventStore, close } = await openStores();
  const happened = [
    { link: "sho.rt/a", at: "2026-03-01T10:00:00.000Z", country: "DE" },
    { link: "sho.rt/b", at: "2026-03-01T10:00:00.000Z", country: "FR" },
    { link: "sho.rt/a", at: "2026-03-01T09:00:00.000Z", kind: "qr_scan", country: undefined },
    { link: "sho.rt/gone", at: "2026-03-02T10:00:00.000Z" },
    { link: "sho.rt/others", at: "2026-03-02T10:00:00.000Z", accountId: OTHER_ACCOUNT },
  ] as const;
  await append(
    eventStore,
    "clicks-w-20260301",
    happened.map((fields) => linkClicked(fields)),
  );
  await append(eventStore, withdrawalStream("sho.rt/gone"), [clicksWithdrawn({ link: "sho.rt/gone" }, 1)]);
  await foldGroups({ eventStore, readStore }, [clicks]);
  await close();
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, where, ACCOUNT]);
  expect(stdout.trimEnd().split("\n")).toEqual([
    "2026-03-01T10:00:00.000Z sho.rt/a click DE",
    "2026-03-01T10:00:00.000Z sho.rt/b click FR",
    "2026-03-01T09:00:00.000Z sho.rt/a qr_scan unknown",
  ]);
}
