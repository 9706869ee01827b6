// The options of all benchmarks; each says which it reads, and what it takes where one isn't given.
import { parseArgs } from "node:util";
import { DRAWS } from "./traffic/draw.ts";

export type Options = ReturnType<typeof parseOptions>["options"];

/** The benchmark's name and its options. @throws TypeError for an option that does not exist, or a value that is none */
export function parseOptions(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      save: { type: "boolean", default: false },
      markdown: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      durable: { type: "boolean", default: false },
      half: { type: "boolean", default: false },
      unknown: { type: "boolean", default: false },
      rounds: { type: "string" },
      seconds: { type: "string" },
      minutes: { type: "string" },
      share: { type: "string" },
      links: { type: "string" },
      draw: { type: "string" },
      events: { type: "string" },
      clicks: { type: "string" },
      requests: { type: "string" },
      burst: { type: "string" },
      rate: { type: "string" },
      workers: { type: "string" },
      only: { type: "string" },
      against: { type: "string" },
      profile: { type: "string" },
      double: { type: "boolean" },
    },
  });
  const {
    rounds,
    seconds,
    minutes,
    share,
    links,
    events,
    clicks,
    requests,
    burst,
    rate,
    workers,
    ...others
  } = values;
  const numbers = { rounds, seconds, minutes, share, links, events, clicks, requests, burst, rate, workers };
  const options = {
    ...others,
    ...mapValues(numbers, numberOf),
    draw: oneOf(DRAWS, values.draw),
    only: values.only?.split(","),
  };
  return { name: positionals[0], options };
}

/** The parts of a benchmark that `only` names, in their order; all of them without it. @throws TypeError for another */
export function partsOf<T extends string>(only: readonly string[] | undefined, parts: readonly T[]): T[] {
  for (const name of only ?? []) oneOf(parts, name);
  return parts.filter((part) => only?.includes(part) ?? true);
}

function oneOf<T extends string>(known: readonly T[], given: string | undefined): T | undefined {
  const found = known.find((value) => value === given);
  if (found === undefined && given !== undefined)
    throw new TypeError(`"${given}" is none of ${known.join(", ")}`);
  return found;
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number)) throw new TypeError(`"${text}" is not a number`);
  return number;
}

function mapValues<K extends string, A, B>(values: Record<K, A>, map: (value: A) => B): Record<K, B> {
  return Object.fromEntries(Object.entries<A>(values).map(([key, value]) => [key, map(value)])) as Record<
    K,
    B
  >;
}
