// The format of exports, read by examples/verify-export.py, which shares no code with the service.
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ExportSelection } from "../../../src/audit/export/export-lines.ts";
import { exportLog } from "../../../src/audit/export/export-log.ts";
import { leafHash } from "../../../src/audit/seals/merkle.ts";
import { exportLink } from "../../../src/queries/audit/export-link.ts";
import { KEYS, LATER_KEYS } from "../../support/audit/keys.ts";
import { LINK, type OpenSealedLog, openSealedLog } from "../../support/audit/open-sealed-log.ts";
import { position } from "../../support/event-store/stored-events.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const SCRIPT = fileURLToPath(new URL("../../../examples/verify-export.py", import.meta.url));
const PYTHON = spawnSync("python3", ["-c", "pow(3, -1, 7)"]).status === 0 ? "python3" : undefined;

describe.skipIf(!PYTHON)("a script that needs nothing of ours", () => {
  let log: OpenSealedLog;
  let folder: TemporaryFolder;

  beforeEach(async () => {
    [log, folder] = await Promise.all([openSealedLog(), temporaryFolder()]);
    for (const clicks of [11, 7, 1]) {
      await log.click(clicks);
      await log.seal();
    }
    await log.click(2);
  });
  afterEach(async () => {
    await log.close();
    await folder.remove();
  });

  /** With -O, which takes away what `assert` would refuse, and nothing else. */
  const check = async (lines: readonly string[], key = KEYS.publicKey, options = ["-O"]) => {
    await writeFile(join(folder.path, "export.ndjson"), lines.map((line) => `${line}\n`).join(""));
    const { stdout, stderr, status } = spawnSync(
      PYTHON as string,
      [...options, SCRIPT, "export.ndjson", key],
      {
        cwd: folder.path,
        encoding: "utf8",
      },
    );
    // A sentence, and no traceback.
    if (status !== 0) expect([stdout, stderr]).toEqual(["", expect.stringMatching(/^NOT PROVEN: [^\n]+\n$/)]);
    return { status, said: stdout.trim() || stderr.trim() };
  };
  const exported = (selection: ExportSelection = {}) => Array.fromAsync(exportLog(log, selection));

  it.each<[string, ExportSelection, number, number]>([
    ["whole", {}, 3, 3],
    ["a range", { from: position(5), to: position(17) }, 2, 0],
    ["a stream", { stream: LINK }, 1, 0],
  ])("proves an export, and says what has no seal: %s", async (_, selection, blocks, later) => {
    const said = `${blocks} blocks are what was sealed; ${later} later events have no seal`;
    const lines = await exported(selection);
    for (const options of [[], ["-O"]])
      expect(await check(lines, KEYS.publicKey, options)).toEqual({ status: 0, said });
  });

  it("proves the file that a link's owner takes home", async () => {
    const lines = (await Array.fromAsync(exportLink(log, LINK.slice(5)))).map((line) => line.trimEnd());
    expect(await check(lines)).toEqual({
      status: 0,
      said: "1 blocks are what was sealed; 0 later events have no seal",
    });
    const forged = lines.map((line) => line.replace("https://", "https://phishing."));
    expect(forged).not.toEqual(lines);
    expect(await check(forged)).toMatchObject({ status: 1 });
    const [head = "", ...events] = forged.filter((line) => !/^\{"(seal|hash|unsealed|end)"/.test(line));
    const unsealed = [head, '{"unsealed":true}', ...events, '{"end":true}'];
    expect(await check(unsealed)).toEqual({ status: 1, said: "NOT PROVEN: no seal covers anything of it" });
  });

  it("finds an event that is hidden between others of its stream, sealed or not, and a head that asks for less", async () => {
    const whole = await exported();
    const ofClicks = whole.find((line) => line.includes('"clicks-')) ?? "";
    const stream = String(JSON.parse(ofClicks)[1]);
    const lines = await exported({ stream });
    expect(await check(lines)).toMatchObject({ status: 0 });
    const events = lines.flatMap((line, n) => (line.startsWith("[") ? [n] : []));
    for (const n of [events[0], events[3], events.at(-2)] as number[]) {
      const hash = leafHash(lines[n] ?? "").toString("hex");
      const hidden = lines.with(n, JSON.stringify({ hash, events: 1 }));
      const { status, said } = await check(
        n > lines.indexOf('{"unsealed":true}') ? lines.toSpliced(n, 1) : hidden,
      );
      expect([status, said]).toEqual([1, expect.stringMatching(/revision \d+ of clicks-\S+ is missing/)]);
    }
    const proof = (await Array.fromAsync(exportLink(log, LINK.slice(5)))).map((line) => line.trimEnd());
    const less = JSON.stringify({ ...JSON.parse(proof[0] ?? ""), from: position(1) });
    expect((await check(proof.with(0, less))).said).toContain("says nothing else");
  });

  it("refuses one character that was changed, whichever line has it", async () => {
    const lines = await exported();
    const changed = (n: number, from: RegExp, to: string) =>
      check(lines.map((line, at) => (at === n ? line.replace(from, to) : line)));
    expect(await changed(5, /city 1/, "city 2")).toMatchObject({
      status: 1,
      said: expect.stringContaining("not what seal 0 covers"),
    });
    const seal = await changed(1, /"total":13/, '"total":14');
    expect(seal.said).toContain("seal 0 is not what was signed");
    expect((await check(lines.slice(0, -1))).said).toContain("not a whole export");
    for (let n = 0; n < lines.indexOf('{"unsealed":true}'); n += 5)
      expect(await check(lines.with(n, lines[n]?.slice(0, 20) ?? ""))).toMatchObject({ status: 1 });
  });

  it("refuses seals by another key", async () => {
    const { said } = await check(await exported(), LATER_KEYS.publicKey);
    expect(said).toContain("seal 0 is signed with another key");
  });
});
