// What the command line of `npm run bench` says, as the benchmarks are given it.
import { parseArgs } from "node:util";

/** `quick`: small runs of seconds, which show that everything is counted once and measure nothing. */
export type Options = {
  quick: boolean;
  seconds: number | undefined;
  links: number | undefined;
  events: number | undefined;
};

/** `name`: of the benchmark; empty where none is named. */
export function readOptions(): { name: string; options: Options } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      seconds: { type: "string" },
      links: { type: "string" },
      events: { type: "string" },
    },
  });
  const { quick, seconds, links, events } = values;
  const options = {
    quick,
    seconds: numberOf(seconds),
    links: numberOf(links),
    events: numberOf(events),
  };
  return { name: positionals[0] ?? "", options };
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!(number > 0)) throw new TypeError(`"${text}" is not a number above 0`);
  return number;
}
