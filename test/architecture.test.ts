// The import rules of the design, read from the sources themselves: no import graph tool reads TypeScript 7 yet.
import { describe, expect, it } from "vitest";
import { isAdapter, isPure, isRoute, isWorkerOf, readSources, type Source } from "./support/source-graph.ts";

const sources = readSources(["src", "test", "bench"]);
const inSource = [...sources.values()].filter((source) => source.path.startsWith("src/"));

const DRIVERS = ["node:sqlite", "@eventstore/db-client", "mongodb", "ioredis"];
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bprocess\b|\bperformance\b|\bfetch\(|\bset(Timeout|Interval|Immediate)\b|\bconsole\b|\brandom(UUID|Bytes|Int|FillSync)\b/;

describe("the architecture", () => {
  it("keeps events, deciders and projections free of clock, randomness, environment and I/O", () => {
    const pure = inSource.filter(isPure);
    expect(closure(pure.map((source) => source.path)).flatMap(impurities)).toEqual([]);
    const rooms = pure.map((source) => source.folder);
    expect(rooms).toEqual(expect.arrayContaining(["events", "commands", "projections"]));
  });

  it("imports database drivers in adapters only", () => {
    expect(imports((from, to) => DRIVERS.includes(to) && !isAdapter(from))).toEqual([]);
  });

  it("imports adapters in backend.ts, in their own folder's adapters and in tests only", () => {
    const allowed = (from: Source, to: Source) =>
      from.path === "src/backend.ts" ||
      from.path.startsWith("test/") ||
      (isAdapter(from) && isWorkerOf(from, to));
    expect(resolved((from, to) => isAdapter(to) && !allowed(from, to))).toEqual([]);
  });

  it("keeps commands apart from projections, queries, redirect and webhooks", () => {
    const readSide = ["projections", "queries", "redirect", "webhooks"];
    expect(resolved((from, to) => from.folder === "commands" && readSide.includes(to.folder))).toEqual([]);
  });

  it("imports routes from their own folder and from app.ts only", () => {
    const allowed = (from: Source, to: Source) =>
      from.path === "src/app.ts" || from.path.startsWith("test/") || from.folder === to.folder;
    expect(resolved((from, to) => isRoute(to) && !allowed(from, to))).toEqual([]);
  });

  it("never imports tests or benchmarks from the service", () => {
    expect(resolved((from, to) => from.path.startsWith("src/") && !to.path.startsWith("src/"))).toEqual([]);
  });

  it("has no import cycle", () => {
    expect(cycles()).toEqual([]);
  });

  it("has no file that neither the service nor the command line reaches", () => {
    const reached = new Set(closure(["src/main.ts", "src/cli.ts"], { everything: true }).map((s) => s.path));
    expect(inSource.map((source) => source.path).filter((path) => !reached.has(path))).toEqual([]);
  });

  it("imports only files that exist", () => {
    expect(imports((_, to) => to.startsWith("missing "))).toEqual([]);
  });
});

/** `from -> to` of every import, packages included, that the rule forbids. */
function imports(forbidden: (from: Source, to: string) => boolean): string[] {
  return [...sources.values()].flatMap((from) =>
    from.imports.filter(({ to }) => forbidden(from, to)).map(({ to }) => `${from.path} -> ${to}`),
  );
}

function resolved(forbidden: (from: Source, to: Source) => boolean): string[] {
  return imports((from, path) => {
    const to = sources.get(path);
    return to !== undefined && forbidden(from, to);
  });
}

/** Files reached by imports that run; with `everything`, also by types and as worker threads. */
function closure(start: readonly string[], options = { everything: false }): Source[] {
  const reached = new Map<string, Source>();
  const queue = [...start];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const source = sources.get(path);
    if (!source || reached.has(path)) continue;
    reached.set(path, source);
    for (const { to, kind } of source.imports) if (options.everything || kind === "value") queue.push(to);
  }
  return [...reached.values()];
}

function impurities(source: Source): string[] {
  const found = source.code.match(IMPURE);
  const outside = source.imports.filter(
    ({ to, kind }) =>
      kind !== "type" && (DRIVERS.includes(to) || (to.startsWith("node:") && to !== "node:crypto")),
  );
  return [
    ...(found ? [`${source.path}: ${found[0]}`] : []),
    ...outside.map(({ to }) => `${source.path} -> ${to}`),
  ];
}

/** One line for each cycle of imports, types included (worker threads start anew, so they may point back). */
function cycles(): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      found.push([...trail.slice(trail.indexOf(path)), path].join(" -> "));
      return;
    }
    if (done.has(path)) return;
    for (const { to, kind } of sources.get(path)?.imports ?? []) {
      if (kind !== "worker" && sources.has(to)) visit(to, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of sources.keys()) visit(path, []);
  return found;
}
