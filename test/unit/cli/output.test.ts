// What people read of a command's answer, and of a long command's progress.
import { expect, it } from "vitest";
import { errorLine } from "../../../src/cli/command-line.ts";
import { counted, forPeople } from "../../../src/cli/output.ts";
import { progressLine } from "../../../src/cli/work.ts";

it("a list is a table with a head, aligned, with times as people write them and no empty column", () => {
  const links = [
    { slug: "abc", clicks: 5, created_at: "2026-03-01T10:15:00.000Z", label: null, active: true },
    { slug: "longer", clicks: 1200, created_at: "2026-03-02T10:15:00.000Z", label: null, active: false },
  ];
  expect(forPeople({ links }).split("\n")).toEqual([
    "Slug    Clicks  Created at               Active",
    "abc          5  2026-03-01 10:15:00 UTC  yes",
    "longer    1200  2026-03-02 10:15:00 UTC  no",
  ]);
});

it("a table that is wider than the terminal is shown row by row", () => {
  const events = [
    { type: "LinkCreated", data: { host: "sho.rt", slug: "abc" } },
    { type: "LinkDisabled", data: { host: "sho.rt", by: { type: "operator" } } },
  ];
  expect(forPeople({ events }, 30).split("\n")).toEqual([
    "Type  LinkCreated",
    "Data  host sho.rt, slug abc",
    "",
    "Type  LinkDisabled",
    "Data  host sho.rt, by type operator",
  ]);
});

it("single values come first, and lists follow under their names", () => {
  const answer = { head: "0017", kinds: ["click", "qr_scan"], next: null, errors: [], rows: [{ a: 1 }] };
  expect(forPeople(answer).split("\n")).toEqual([
    "Head   0017",
    "Kinds  click, qr_scan",
    "",
    "Errors: none",
    "",
    "Rows",
    "  A",
    "  1",
  ]);
});

it("what others wrote stays in its cell and moves no terminal", () => {
  expect(forPeople({ keys: [{ label: "\u001b[2Jci\nstatus: active\u202e" }] })).toBe(
    "Label\n\uFFFD[2Jci status: active\uFFFD",
  );
});

it("one is one", () => {
  expect([counted(1, "record"), counted(0, "record"), counted(12_345, "record")]).toEqual([
    "1 record",
    "0 records",
    "12,345 records",
  ]);
});

/** What is written while the work goes on at 1,000 records a second, shown 100 times a second. */
function written(isTTY: boolean, seconds: number): string[] {
  let now = 0;
  const lines: string[] = [];
  const line = progressLine({ isTTY, write: (text) => lines.push(text) }, () => now);
  for (; now <= seconds * 1_000; now += 10) line.show({ count: now, share: now / 100_000, unit: "record" });
  line.clear();
  return lines;
}

it("progress on a terminal is one line that is rewritten a few times a second, and goes at the end", () => {
  const lines = written(true, 50);
  expect(lines.length).toBeLessThan(600);
  expect(lines.at(-2)).toBe("\r\u001b[K50 %, 50,000 records, 1000/s, about 50 s left");
  expect(lines.at(-1)).toBe("\r\u001b[K");
  expect(written(true, 0.5)).toEqual([]);
});

it("progress elsewhere is a line every ten seconds", () => {
  expect(written(false, 35)).toEqual([
    "10 %, 10,000 records, 1000/s, about 2 min left\n",
    "20 %, 20,000 records, 1000/s, about 80 s left\n",
    "30 %, 30,000 records, 1000/s, about 70 s left\n",
  ]);
  expect(written(false, 5)).toEqual([]);
});

it("errors of files are said in words", () => {
  const error = (code: string, path?: string) => Object.assign(new Error(code), { code, path });
  expect(errorLine(error("ENOENT", "/nonexist/x"))).toBe("No such file or folder: /nonexist/x");
  expect(errorLine(error("ENOSPC"))).toBe("The disk is full");
  expect(errorLine(error("ECONNREFUSED"))).toBe("ECONNREFUSED");
});
