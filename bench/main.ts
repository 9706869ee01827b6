// `npm run bench <name> -- [options]`: what each benchmark is called, and its options.
import { parseArgs } from "node:util";
import { benchRedirect } from "./redirect.ts";

const USAGE =
  "usage: npm run bench redirect -- [--durable] [--rounds 3] [--seconds 8] [--markdown] [--profile DIR]";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    durable: { type: "boolean", default: false },
    markdown: { type: "boolean", default: false },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "8" },
    profile: { type: "string" },
  },
});

if (positionals[0] === "redirect") {
  const { rounds, seconds, ...options } = values;
  const complete = await benchRedirect({ ...options, rounds: Number(rounds), seconds: Number(seconds) });
  process.exitCode = complete ? 0 : 1;
} else {
  console.error(USAGE);
  process.exitCode = 2;
}
