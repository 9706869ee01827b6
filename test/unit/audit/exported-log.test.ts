// Exports of a log, checked with the public key alone: whole ones and parts, honest and cut.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ExportSelection } from "../../../src/audit/export/export-lines.ts";
import { exportLog } from "../../../src/audit/export/export-log.ts";
import { verifyExport } from "../../../src/audit/export/verify-export.ts";
import { leafHash } from "../../../src/audit/seals/merkle.ts";
import { KEYS, LATER_KEYS } from "../../support/audit/keys.ts";
import { CLICKS, LINK, type OpenSealedLog, openSealedLog } from "../../support/audit/open-sealed-log.ts";
import { position } from "../../support/event-store/stored-events.ts";

/** Positions: an account and a link, clicks 3 to 22, a seal, clicks 24 to 43, a seal, clicks 45 to 64, a seal. */
const RANGE: ExportSelection = { from: position(5), to: position(60) };

let log: OpenSealedLog;

beforeEach(async () => {
  log = await openSealedLog();
});
afterEach(() => log.close());

async function sealBlocks(count: number): Promise<void> {
  for (let block = 0; block < count; block += 1) {
    await log.click(20);
    await log.seal();
  }
}

async function exported(selection: ExportSelection = {}): Promise<string[]> {
  return await Array.fromAsync(exportLog(log, selection));
}

async function verified(lines: readonly string[], keys = [KEYS]) {
  const texts = async function* () {
    yield* lines;
  };
  const trusted = keys.map(({ publicKey }) => publicKey);
  const { problems, ...rest } = await verifyExport(texts(), trusted);
  expect(rest.ok).toBe(problems.length === 0);
  const named = problems.map((one) => `${one.stream}@${one.revision}: ${one.message}`);
  return { ...rest, problems: named };
}

/** With only the hash of what `isHidden`, as in a tree of which it was not selected. */
function withheld(
  lines: readonly string[],
  isHidden: (event: { stream: string; revision: number }) => boolean,
): string[] {
  return lines.map((line) => {
    const [, stream, revision] = line.startsWith("[") ? JSON.parse(line) : [];
    if (stream === undefined || !isHidden({ stream, revision })) return line;
    return JSON.stringify({ hash: leafHash(line).toString("hex"), events: 1 });
  });
}

const isStart = (line: string) => /^\{"(seal|unsealed)"/.test(line);
const isSeal = (line: string) => line.startsWith('{"seal"');

/** Without the nth seal of the file and what is below it. */
function cut(lines: readonly string[], n: number): string[] {
  const starts = lines.flatMap((line, index) => (isStart(line) ? [index] : []));
  return [...lines.slice(0, starts[n]), ...lines.slice(starts[n + 1])];
}

const unconnected = (seal: number) =>
  `seals@${seal}: seal ${seal} does not follow what is before it in the file`;

describe("an exported log", () => {
  it.each<[string, ExportSelection]>([
    ["whole", {}],
    ["a range", RANGE],
    ["what is up to a position", { to: position(30) }],
    ["what is from a position on, the last one of a block", { from: position(43) }],
    ["a stream", { stream: LINK }],
    ["a range of a stream", { stream: CLICKS, ...RANGE }],
  ])("verifies as it was written: %s", async (_, selection) => {
    await sealBlocks(3);
    await log.click(1);
    expect(await verified(await exported(selection))).toMatchObject({ ok: true, problems: [] });
  });

  it.each<[string, ExportSelection]>([
    ["whole", {}],
    ["a range", RANGE],
  ])("verifies by the present key after a change of SECRET_KEY: %s", async (_, selection) => {
    await sealBlocks(1);
    await log.seal([LATER_KEYS, KEYS]);
    await log.click(1);
    await log.seal([LATER_KEYS]);
    const lines = await exported(selection);
    expect(await verified(lines, [LATER_KEYS])).toMatchObject({ seals: 3, problems: [] });
  });

  it("verifies by the earlier key when it ends before the change of SECRET_KEY", async () => {
    await sealBlocks(1);
    await log.seal([LATER_KEYS, KEYS]);
    expect(await verified(await exported({ to: position(21) }))).toMatchObject({ seals: 1, problems: [] });
  });

  it("verifies after events and a seal came while it was written", async () => {
    await sealBlocks(1);
    await log.click(2);
    const lines: string[] = [];
    for await (const line of exportLog(log, {})) {
      lines.push(line);
      if (isSeal(line)) await sealBlocks(1);
    }
    expect(await verified(lines)).toMatchObject({ seals: 1, problems: [] });
  });

  it.each<[string, ExportSelection]>([
    ["whole", {}],
    ["a range", RANGE],
    ["a stream", { stream: CLICKS }],
  ])("names selected events of which it has only the hashes: %s", async (_, selection) => {
    await sealBlocks(2);
    const lines = withheld(
      await exported(selection),
      ({ stream, revision }) => stream === CLICKS && revision >= 38,
    );
    const problems = [38, 39].map((revision) => `${CLICKS}@${revision}: was withheld`);
    expect((await verified(lines)).problems).toEqual(problems);
  });

  it.each<[string, ExportSelection]>([
    ["whole", {}],
    ["a range", RANGE],
  ])("names the seal before which a block was cut out: %s", async (_, selection) => {
    await sealBlocks(3);
    const lines = await exported(selection);
    expect((await verified(cut(lines, 0))).problems).toEqual([unconnected(1)]);
    expect((await verified(cut(lines, 1))).problems).toEqual([unconnected(2)]);
  });

  it("names the seal whose block is there twice", async () => {
    await sealBlocks(2);
    const [head, ...lines] = await exported();
    const end = lines.findLastIndex(isSeal);
    const twice = [head as string, ...lines.slice(0, end), ...lines];
    expect((await verified(twice)).problems).toEqual([unconnected(0)]);
  });

  it("tells from the revisions of a stream that one of its blocks was cut out", async () => {
    await sealBlocks(3);
    const lines = await exported({ stream: CLICKS });
    expect((await verified(cut(lines, 1))).problems).toEqual([`${CLICKS}@40: revision 20 was expected`]);
  });

  it("names events without a seal that are there twice, or that a seal would have covered", async () => {
    await sealBlocks(1);
    await log.click(2);
    const lines = await exported();
    const sealed = lines[5] as string;
    const last = lines.at(-2) as string;
    const foreign = (event: string) => [...lines.slice(0, -1), event, ...lines.slice(-1)];
    const misplaced = "does not belong behind what is before it";
    expect((await verified(foreign(sealed))).problems).toEqual([
      `${CLICKS}@${JSON.parse(sealed)[2]}: ${misplaced}`,
    ]);
    expect((await verified(foreign(last))).problems).toEqual([`${CLICKS}@21: ${misplaced}`]);
  });

  it("can't be read when a seal follows events that have none", async () => {
    await sealBlocks(2);
    const [head, ...lines] = await exported();
    const second = lines.findLastIndex(isSeal);
    const inserted = [head as string, ...lines.slice(0, second), '{"unsealed":true}'];
    await expect(verified([...inserted, ...lines.slice(second)])).rejects.toThrow("a seal behind events");
  });
});
