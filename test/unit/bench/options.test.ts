// The options of the benchmarks: a mistyped one would measure something else.
import { describe, expect, it } from "vitest";
import { BENCHMARKS } from "../../../bench/benchmarks.ts";
import { parseOptions } from "../../../bench/options.ts";
import { createReport } from "../../../bench/report/report.ts";

const report = createReport({ json: false, markdown: false });

describe("the options of the benchmarks", () => {
  it("are names and numbers", () => {
    const { name, options } = parseOptions("redirect --draw even --double --seconds 0.5".split(" "));
    expect(name).toBe("redirect");
    expect(options).toMatchObject({ draw: "even", double: true, seconds: 0.5, rounds: undefined });
  });

  it.each(["--draw evenly", "--seconds 6s", "--rounds="])("refuse %s", (option) => {
    expect(() => parseOptions(["redirect", ...option.split(" ")])).toThrow(TypeError);
  });

  it.each(["fold", "abuse", "all"])("refuse a part that %s doesn't have", async (name) => {
    const { options } = parseOptions([name, "--only", "flod"]);
    await expect(BENCHMARKS[name]?.(options, report)).rejects.toThrow(/"flod" is none of /);
  });
});
