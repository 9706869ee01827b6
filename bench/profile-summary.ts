// `npm run bench profile -- --profile FOLDER`: where each thread of a service spent its time, from the V8 CPU profiles that
// `--profile FOLDER` of the benchmarks redirect, fold and rebuild left.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "./options.ts";
import type { Report } from "./report/report.ts";
import type { Outcome } from "./report/results.ts";

const ROOT = new URL("..", import.meta.url).href;
const TOP = 12;
/** V8's names for time in which no JavaScript ran. */
const IDLE = new Set(["(idle)", "(program)", "(root)"]);

type CallFrame = { functionName: string; url: string; lineNumber: number };
type Profile = {
  nodes: { id: number; callFrame: CallFrame }[];
  samples: number[];
  timeDeltas: number[];
};
type Share = { name: string; percent: number };
type ThreadSummary = { thread: string; busyMs: number; functions: Share[]; places: Share[] };

/** Shares are of the time in which the thread ran JavaScript or collected garbage. */
export async function summarizeProfiles({ profile }: Options, report: Report): Promise<Outcome> {
  if (!profile) throw new Error("--profile FOLDER is needed");
  const files = readdirSync(profile).filter((file) => file.endsWith(".cpuprofile"));
  const threads = files
    .map((file) => summarize(JSON.parse(readFileSync(join(profile, file), "utf8")) as Profile))
    .sort((a, b) => b.busyMs - a.busyMs);
  for (const { thread, busyMs, functions, places } of threads) {
    report.line(`\n${thread}: ${Math.round(busyMs)} ms busy`);
    const row = (n: number) =>
      [functions[n], places[n]].flatMap((share) =>
        share ? [share.percent.toFixed(1), share.name] : ["", ""],
      );
    report.table([["%", "function", "%", "file or package"], ...functions.map((_, n) => row(n))]);
  }
  return { passed: true, measured: { threads } };
}

function summarize({ nodes, samples, timeDeltas }: Profile): ThreadSummary {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const byFunction = new Map<string, number>();
  const byPlace = new Map<string, number>();
  let busyMicros = 0;
  samples.forEach((id, n) => {
    const frame = frames.get(id);
    const micros = timeDeltas[n] ?? 0;
    if (!frame || IDLE.has(frame.functionName)) return;
    busyMicros += micros;
    const place = placeOf(frame);
    const name = `${frame.functionName || "(anonymous)"} ${frame.url ? `${place.split("/").at(-1)}:${frame.lineNumber + 1}` : ""}`;
    byFunction.set(name, (byFunction.get(name) ?? 0) + micros);
    byPlace.set(place, (byPlace.get(place) ?? 0) + micros);
  });
  const top = (shares: Map<string, number>): Share[] =>
    [...shares]
      .sort(([, a], [, b]) => b - a)
      .slice(0, TOP)
      .map(([name, micros]) => ({ name: name.trim(), percent: (micros / busyMicros) * 100 }));
  return {
    thread: threadOf(nodes.map(({ callFrame }) => callFrame.url)),
    busyMs: busyMicros / 1000,
    functions: top(byFunction),
    places: top(byPlace),
  };
}

/** The package, or the file from the checkout's folder. */
function placeOf({ functionName, url }: CallFrame): string {
  if (url === "") return functionName.startsWith("(") ? functionName : "V8 and Node's C++";
  const [, dependency] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (dependency) return dependency;
  return url.startsWith("file:") ? url.replace(ROOT, "") : url;
}

/** Named by the file that the thread starts with; those of src/runtime/threads/ are loaded by many. */
function threadOf(urls: readonly string[]): string {
  const ours = urls.filter((url) => url.startsWith(ROOT)).map((url) => url.slice(ROOT.length));
  if (ours.includes("src/main.ts") || ours.includes("src/cli.ts")) return "main thread";
  const entry = ours.find((path) => path.endsWith("thread.ts") && !path.startsWith("src/runtime/"));
  return entry?.replace("src/", "") ?? "a thread";
}
