// The sizes of clicks in the log, as the benchmark measures them.
import { describe, expect, it } from "vitest";
import { benchLogSize } from "../../../bench/log/log-size.ts";
import { parseOptions } from "../../../bench/options.ts";

const report = { line: () => undefined, table: () => undefined };
/** The half of an odd number is no number of clicks. */
const CLICKS = 1_999;
const { options } = parseOptions(["log-size", "--clicks", String(CLICKS)]);

type Row = { size: number; bytes: number; further: number };

describe("the measured size of clicks in the log", () => {
  it("is about as large for further clicks as for the first, of any number of clicks", async () => {
    const { measured } = await benchLogSize(options, report);
    for (const { bytes, further } of measured.rows as Row[]) expect(further).toBeLessThan(1.3 * bytes);
  });
});
