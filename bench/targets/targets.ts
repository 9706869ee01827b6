// What we want to reach, each with the run that measures it and where its result is found.
import { whole } from "../report/report.ts";

/** `value`: of the run's measured result; `isMet` compares it with the target. */
export type Target = {
  what: string;
  run: string;
  target: string;
  value: (measured: Measured) => number | undefined;
  isMet: (value: number) => boolean;
  show: (value: number) => string;
};

/** Read by name, as each benchmark measures something else. */
// biome-ignore lint/suspicious/noExplicitAny: the shape of a result is that of its benchmark
export type Measured = any;

const atMost = (limit: number) => (value: number) => value <= limit;
const atLeast = (limit: number) => (value: number) => value >= limit;
const times = (value: number) => `${value.toFixed(2)} x`;
const ratio = (value: number) => value.toFixed(2);
const seconds = (value: number) => `${value.toFixed(1)} s`;
const megabytes = (value: number) => `${whole(value)} MB`;

/** A run's name, and what is typed after `npm run bench`. */
export const RUNS: Readonly<Record<string, string>> = {
  redirect: "redirect --half --unknown",
  visibility: "fold --draw zipf --only visibility",
  "flood-zipf": "fold --links 10000 --draw zipf --only flood",
  "flood-even": "fold --only flood",
  "rebuild-even": "rebuild",
  "rebuild-zipf": "rebuild --events 1000000 --links 10000 --draw zipf",
  create: "create --links 1000000",
  analytics: "analytics",
};

export const TARGETS: readonly Target[] = [
  {
    ...{ what: "visible in analytics, 5,000 clicks/s, 100,000 links by Zipf, p99", run: "visibility" },
    ...{ target: "1 s", value: (m) => m.visibility?.p99 / 1000, isMet: atMost(1), show: seconds },
  },
  {
    ...{ what: "complete after a flood of 60 s, 10,000 links by Zipf", run: "flood-zipf", target: "3 s" },
    ...{ value: (m) => m.flood?.completeAfterS, isMet: atMost(3), show: seconds },
  },
  {
    ...{ what: "the same, 100,000 links evenly", run: "flood-even", target: "20 s" },
    ...{ value: (m) => m.flood?.completeAfterS, isMet: atMost(20), show: seconds },
  },
  {
    ...{
      what: "folded while serving, 100,000 links evenly, clicks/s",
      run: "flood-even",
      target: "10,000",
    },
    ...{ value: (m) => m.flood?.folded, isMet: atLeast(10_000), show: whole },
  },
  {
    ...{ what: "rebuild, 560,000 events, 100,000 links evenly, events/s", run: "rebuild-even" },
    ...{ target: "60,000", value: (m) => m.eventsPerSecond, isMet: atLeast(60_000), show: whole },
  },
  {
    ...{ what: "rebuild, 1,000,000 events, 10,000 links by Zipf, events/s", run: "rebuild-zipf" },
    ...{ target: "150,000", value: (m) => m.eventsPerSecond, isMet: atLeast(150_000), show: whole },
  },
  {
    ...{ what: "redirects over 1,000,000 links by Zipf, beside 1,000 links", run: "create", target: "0.9" },
    ...{ value: (m) => m.many?.zipfOfFew, isMet: atLeast(0.9), show: ratio },
  },
  {
    ...{ what: "the same evenly", run: "create", target: "0.65" },
    ...{ value: (m) => m.many?.evenOfFew, isMet: atLeast(0.65), show: ratio },
  },
  {
    ...{ what: "memory after creating and visiting 1,000,000 links", run: "create", target: "700 MB" },
    ...{ value: (m) => m.many?.visitedMb, isMet: atMost(700), show: megabytes },
  },
  {
    ...{ what: "idle memory with 1,000,000 links", run: "create", target: "300 MB" },
    ...{ value: (m) => m.many?.idleMb, isMet: atMost(300), show: megabytes },
  },
  {
    ...{ what: "first redirect after a start with 1,000,000 links", run: "create", target: "2 s" },
    ...{ value: (m) => m.many?.firstRedirectS, isMet: atMost(2), show: seconds },
  },
  {
    ...{ what: "memory during unknown slugs, end beside begin", run: "redirect", target: "1.1 x" },
    ...{ value: (m) => m.unknown?.lastMb / m.unknown?.firstMb, isMet: atMost(1.1), show: times },
  },
  {
    ...{ what: "bulk of 100, links/s beside single creates", run: "create", target: "10 x" },
    ...{ value: (m) => m.bulkOfSingle, isMet: atLeast(10), show: times },
  },
  {
    ...{ what: "analytics of a link with 1,000,000 clicks, p99", run: "analytics", target: "20 ms" },
    ...{ value: (m) => m.p99, isMet: atMost(20), show: (ms) => `${ms.toFixed(1)} ms` },
  },
];
