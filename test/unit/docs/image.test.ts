// The image starts the service as `npm start` does, so that what tests and benchmarks run is what people deploy.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { startFlags } from "../../support/service/service-process.ts";

const dockerfile = readFileSync(new URL("../../../Dockerfile", import.meta.url), "utf8");

it("starts and compiles with Node's flags of npm start, but for the compile cache, which it names by a variable", () => {
  const flags = startFlags().filter((flag) => !flag.startsWith("--import="));
  const [, entrypoint = "[]"] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  expect(JSON.parse(entrypoint)).toEqual(["node", ...flags, "src/cli.ts"]);
  expect(dockerfile).toContain(` node ${flags.join(" ")} src/cli.ts serve `);
});
