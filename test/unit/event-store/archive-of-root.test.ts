// An archive that root makes in the data folder of the service's user, as operations.md allows it.
import { chown, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSqliteEventStore } from "../../../src/event-store/sqlite/event-store.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { archiveBefore, archiveIn, EVER } from "../../support/event-store/archived-event-store.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const SERVICE = 65_534;

it.runIf(process.getuid?.() === 0)("belongs to the owner of the data folder, who reads it", async () => {
  const folder = await temporaryFolder();
  await chown(folder.path, SERVICE, SERVICE);
  const store = await openSqliteEventStore(join(folder.path, "events.db"));
  const archive = archiveIn(folder.path);
  try {
    const origin = { correlationId: "t", causationId: "t", actor: { type: "system", id: "t" } } as const;
    const clicks = [0, 1].map((n) =>
      newEvent(linkClicked(), `00000000-0000-7000-8000-00000000000${n}`, origin),
    );
    await store.append("clicks-a-1", "none", clicks);
    expect(await archiveBefore(archive, EVER)).toBe(2);
    const [{ file = "" } = {}] = archive.files();
    for (const path of ["archive", join("archive", file)])
      expect([path, (await stat(join(folder.path, path))).uid]).toEqual([path, SERVICE]);
  } finally {
    archive.close();
    await store.close();
    await folder.remove();
  }
});
