// The options of all benchmarks; each says which it reads, and what it takes where one isn't given.
import { parseArgs } from "node:util";
import { SCHEMES } from "../test/support/event-store/eventstoredb-double/double.ts";
import { DRAWS } from "./traffic/draw.ts";

export type Options = ReturnType<typeof parseOptions>["options"];

/** The benchmark's name and its options. @throws TypeError for an option that does not exist */
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
      double: { type: "string" },
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
    draw: DRAWS.find((draw) => draw === values.draw),
    double: SCHEMES.find((scheme) => scheme === values.double),
    only: values.only?.split(","),
  };
  return { name: positionals[0], options };
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function mapValues<K extends string, A, B>(values: Record<K, A>, map: (value: A) => B): Record<K, B> {
  return Object.fromEntries(Object.entries<A>(values).map(([key, value]) => [key, map(value)])) as Record<
    K,
    B
  >;
}
