// That V8 keeps what it has learned about `process.nextTick`, seen in its own feedback, over major collections.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const MODULE = new URL("../../../src/redirect/http/keep-tick-shape.ts", import.meta.url).href;
/** `fuzzing`: without it V8 ends the process where a function has no feedback yet. */
const FLAGS = ["--allow-natives-syntax", "--fuzzing", "--expose-gc"];

/** V8 keeps shapes without objects for some collections; each collection in a turn of its own, without ticks in between. */
const program = (keeps: boolean) => `
  import { keepTickShape } from ${JSON.stringify(MODULE)};
  const feedback = new Function("of", "return %GetFeedback(of)");
  const states = () => feedback(process.nextTick)
    .filter((slot) => slot?.[0] === "DefineKeyedOwnPropertyInLiteral").map(([, state]) => state);
  const tick = () => { for (let n = 0; n < 100; n++) process.nextTick(() => undefined); };
  tick();
  ${keeps ? "globalThis.release = keepTickShape();" : ""}
  const collect = (left) => {
    gc();
    if (left > 0) return setTimeout(collect, 1, left - 1);
    tick();
    console.log([...new Set(states())].join());
  };
  setTimeout(collect, 1, 10);
`;

async function statesAfterCollections(keeps: boolean): Promise<string> {
  const args = [...FLAGS, "--input-type=module", "--eval", program(keeps)];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: fileURLToPath(new URL("../../..", import.meta.url)),
  });
  return stdout.trim();
}

it("keeps one shape for all ticks, which V8 otherwise forgets", async () => {
  expect(await statesAfterCollections(true)).toBe("MONOMORPHIC");
  // When this fails, Node or V8 needs the help no longer.
  expect(await statesAfterCollections(false)).toContain("MEGAMORPHIC");
});
