// The proof of a link that its owner takes home: its events, whole and in order, and nothing of anybody else.
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { EXPORT_FORMAT } from "../../../src/audit/export/export-lines.ts";
import { verifyExport } from "../../../src/audit/export/verify-export.ts";
import { readSeal } from "../../../src/audit/seals/judge-seals.ts";
import { leafHash } from "../../../src/audit/seals/merkle.ts";
import { packPlaces } from "../../../src/audit/seals/places.ts";
import { SEALS_STREAM } from "../../../src/events/streams.ts";
import { exportLink } from "../../../src/queries/audit/export-link.ts";
import type { RecordedEvent } from "../../../src/stores/event-store/port.ts";
import { KEYS, LATER_KEYS } from "../../support/audit/keys.ts";
import { LINK, type OpenSealedLog, openSealedLog } from "../../support/audit/open-sealed-log.ts";
import { linkCreated, linkDisabled } from "../../support/event-store/stored-events.ts";
import { append } from "../../support/runtime/stores.ts";

let log: OpenSealedLog;
beforeEach(async () => {
  log = await openSealedLog();
});
afterEach(() => log.close());

const proof = async () =>
  (await Array.fromAsync(exportLink(log, LINK.slice("link-".length)))).map((line) => line.trimEnd());
async function verified(lines: readonly string[], keys = [KEYS.publicKey]) {
  const texts = async function* () {
    yield* lines;
  };
  return await verifyExport(texts(), keys, { isOfLink: true });
}

/** Blocks with and without an event of the link, clicks between them, and one event behind the last seal. */
async function changeAndSeal(): Promise<void> {
  await log.click(7);
  await log.seal();
  await log.click(20);
  await log.seal();
  await append(log.eventStore, LINK, [linkDisabled("abc")]);
  await append(log.eventStore, "link-sho.rt/of-another", [linkCreated({ slug: "of-another" })]);
  await log.click(5);
  await log.seal();
  await append(log.eventStore, LINK, [{ ...linkDisabled("abc"), type: "LinkEnabled" }]);
}

it("proves each sealed event of the link, says which has no seal yet, and names no other stream", async () => {
  await changeAndSeal();
  const lines = await proof();
  expect(await verified(lines)).toMatchObject({ ok: true, seals: 2, events: 2, unsealed: 1, problems: [] });
  const streams = lines.filter((line) => line.startsWith("[")).map((line) => JSON.parse(line)[1]);
  expect(streams).toEqual([LINK, LINK, LINK]);
  expect(lines.join("\n")).not.toMatch(/of-another|clicks-|account-|"places"|"marks"/);
  expect(await verified(lines, [LATER_KEYS.publicKey])).toMatchObject({ ok: false });
});

it("proves nothing any more when a character of it, or a line, is another one", async () => {
  await changeAndSeal();
  const lines = await proof();
  const sealed = lines.indexOf('{"unsealed":true}');
  const outcome = (changed: readonly string[]) =>
    verified(changed).then(
      ({ ok }) => (ok ? "proved" : "refused"),
      () => "unreadable",
    );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: sealed - 1 }),
      fc.nat(),
      fc.constantFrom("x", "0", ""),
      async (n, at, letter) => {
        const line = lines[n] ?? "";
        const changed = line.slice(0, at % line.length) + letter + line.slice((at % line.length) + 1);
        fc.pre(changed !== line);
        expect(await outcome(lines.with(n, changed))).not.toBe("proved");
        expect(await outcome(lines.toSpliced(n, 1))).not.toBe("proved");
      },
    ),
    { numRuns: 60 },
  );
});

it("hides no event behind a first line that asks for less, and none in the middle", async () => {
  await changeAndSeal();
  const [head = "", ...lines] = await proof();
  const asked = { ...JSON.parse(head), from: "1" };
  await expect(verified([JSON.stringify(asked), ...lines])).rejects.toMatchObject({ code: "bad_export" });
  const n = lines.findIndex((line) => line.startsWith("["));
  const hidden = JSON.stringify({ hash: leafHash(lines[n] ?? "").toString("hex"), events: 1 });
  expect(await verified([head, ...lines.with(n, hidden)])).toMatchObject({ ok: false });
});

it("is nothing that a stranger's file lets grow: no places to unpack, and no block above its size", async () => {
  await changeAndSeal();
  const seal = readSeal((await log.eventStore.read(SEALS_STREAM, { limit: 1 }))[0] as RecordedEvent);
  const many = 1e9;
  const places = packPlaces([["clicks-x", 0, many]]);
  const link = LINK.slice("link-".length);
  for (const head of [{ export: EXPORT_FORMAT, link }, { export: EXPORT_FORMAT }])
    for (const events of [seal?.events, many])
      await expect(
        verified(
          [head, { seal: { ...seal, places, events } }, { end: true }].map((line) => JSON.stringify(line)),
        ),
      ).rejects.toMatchObject({ code: "bad_export" });
});
