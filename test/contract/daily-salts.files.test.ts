// The daily salts contract on files, also for two processes and with drafts that remain after a power failure.
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileDailySalts } from "../../src/redirect/clicks/visitors/daily-salts.files.ts";
import { utcDayOf } from "../../src/redirect/clicks/visitors/daily-salts.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { dailySaltsContract } from "./daily-salts.ts";

describe("files", () => {
  let parent: TemporaryFolder;
  let folder: string;
  beforeAll(async () => {
    parent = await temporaryFolder();
    folder = join(parent.path, "visitor-salts");
  });
  afterAll(() => parent.remove());

  const stored = async () => {
    const texts = (await readdir(folder)).map((name) => readFile(join(folder, name), "latin1"));
    return (await Promise.all(texts)).join("\n");
  };

  dailySaltsContract("files", async () => ({
    salts: fileDailySalts(folder),
    others: fileDailySalts(folder),
    stored,
  }));

  it("are readable by their owner only, and excluded from backups by CACHEDIR.TAG", async () => {
    await fileDailySalts(folder).agree(utcDayOf(Date.now()), "a".repeat(44));
    const entries = await readdir(folder);
    for (const name of ["", ...entries]) expect((await stat(join(folder, name))).mode & 0o077).toBe(0);
    expect(await readFile(join(folder, "CACHEDIR.TAG"), "utf8")).toMatch(
      /^Signature: 8a477f597d28d172789f06886806bc55\n/,
    );
  });

  it("are destroyed together with drafts of crashed processes", async () => {
    await writeFile(join(folder, "20260301.0123456789abcdef"), "a draft");
    await fileDailySalts(folder).sweep(new Date());
    expect(await readdir(folder)).not.toContain("20260301.0123456789abcdef");
  });

  it("can be swept when there is no folder yet", async () => {
    await fileDailySalts(join(parent.path, "never-used")).sweep(new Date());
  });
});
