// Files of the data folder that can't be opened: one line for the operator, with the file's name.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openBackend } from "../../../src/backend.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

it.each(["events.db", "read.db", "secrets.db", "deliveries.db"])(
  "names %s when it is unavailable because it can't be opened",
  async (name) => {
    const folder = await temporaryFolder();
    onTestFinished(() => folder.remove());
    const file = join(folder.path, name);
    await mkdir(file);
    await expect(openBackend({ dataDir: folder.path }, { offThread: false })).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining(file),
    });
  },
);
