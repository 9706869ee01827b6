// Where no service has the data folder: few commands open stores themselves, all others are refused, and make nothing.
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../../src/cli/command-line.ts";
import { lockFolder } from "../../../src/stores/connections/folder-lock.sqlite.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService } from "../../support/service/start-service.ts";

/** As docs/operations.md lists them; what they promise is in the tests of each. */
const WITHOUT_A_SERVICE = new Set([
  ...["serve", "backup", "secrets rotate", "log adopt", "audit verify", "webhook listen"],
  ...["status", "rebuild", "reclassify", "cancel", "rollback", "verify"].map((name) => `projections ${name}`),
]);
const UNKNOWN = "11111111-1111-4111-8111-111111111111";
/** Arguments and options that must be given, of which some are parsed before anything else. */
const WORDS: Readonly<Record<string, string>> = {
  tier: "free",
  role: "viewer",
  mark: "on",
  format: "csv",
  revision: "0",
  "--role": "viewer",
  "--since": "2026-03-01",
  "--from": "2026-03-01",
};

/** Each command with what it must be given, by its name. */
async function everyCommand(): Promise<Map<string, string[]>> {
  const commands = new Map<string, string[]>();
  for (const [group, { about, load }] of Object.entries(COMMANDS))
    for (const { name, byAccount, options = [] } of (await load()).commands) {
      const [word = "", ...operands] = name.split(" ");
      const path = about === undefined ? [word] : [group, word];
      const given = operands
        .filter((operand) => operand.startsWith("<"))
        .map((operand) => WORDS[operand.replace(/[<>.]/g, "")] ?? UNKNOWN);
      const flags = options
        .filter(({ mandatory }) => mandatory)
        .flatMap(({ long = "", required }) =>
          required ? [long, WORDS[long] ?? "some@example.com"] : [long],
        );
      const account = byAccount ? ["--account", UNKNOWN] : [];
      commands.set(path.join(" "), [...path, ...given, ...flags, ...account]);
    }
  return commands;
}

describe("without a service", { timeout: 120_000 }, () => {
  let folder: TemporaryFolder;
  let dataDir: string;
  let commands: Map<string, string[]>;
  const refusedOnes = () => [...commands].filter(([name]) => !WITHOUT_A_SERVICE.has(name));
  beforeAll(async () => {
    folder = await temporaryFolder();
    dataDir = join(folder.path, "data");
    commands = await everyCommand();
    const service = await startTestService({ DATA_DIR: dataDir });
    await service.member("developer");
    await service.stop();
  });
  afterAll(() => folder.remove());

  async function stateOf(path: string): Promise<unknown[]> {
    const entry = async (name: string) => {
      const { size, mtimeMs, mode } = await stat(join(path, name));
      return [name, size, mtimeMs, mode, await readFile(join(path, name), "base64").catch(() => "")];
    };
    return await Promise.all((await readdir(path)).sort().map(entry));
  }

  it("every other command says what to do in one line, changes nothing and leaves the folder free", async () => {
    expect([...WITHOUT_A_SERVICE].filter((name) => !commands.has(name))).toEqual([]);
    const before = await stateOf(dataDir);
    for (const [name, words] of refusedOnes()) {
      const { code, stdout, stderr } = await commandLine(dataDir).linkledger(words);
      expect([name, code, stdout, stderr]).toEqual([
        ...[name, 1, ""],
        `error: No service has DATA_DIR ${dataDir}: start one (linkledger serve), then give this command beside it\n`,
      ]);
    }
    expect(await stateOf(dataDir)).toEqual(before);
    lockFolder(dataDir, process.pid).release();
  });

  it("no command makes a folder or answers anything about data that isn't there", async () => {
    const missing = join(folder.path, "missing");
    const elsewhere = commandLine(missing);
    expect(await elsewhere.refused("account", "create", "--email", "first@example.com")).toContain(
      `No service has DATA_DIR ${missing}`,
    );
    for (const command of [
      ["projections", "status"],
      ["projections", "rebuild"],
      ["audit", "verify"],
      ["secrets", "rotate"],
      ["log", "adopt", UNKNOWN],
      ["backup", join(folder.path, "copy")],
    ])
      expect(await elsewhere.refused(...command)).toContain(`${missing} has no events.db`);
    expect(existsSync(missing)).toBe(false);
  });
});
