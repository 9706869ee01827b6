// The import rules of the design, read from the sources themselves: no import graph tool reads TypeScript 7 yet.
import { describe, expect, it } from "vitest";
import { type Import, isAdapter, isPure, isRoute, readSources, type Source } from "./support/source-graph.ts";

const sources = readSources(["src", "test", "bench"]);
const inService = ({ path }: Source) => path.startsWith("src/");
const inSource = [...sources.values()].filter(inService);

const DRIVERS = ["node:sqlite", "@eventstore/db-client", "mongodb", "ioredis"];
/** Of which functions without I/O are used. */
const PURE_PARTS_OF_NODE = ["node:crypto", "node:url"];
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bprocess\.|\bperformance\b|\bfetch\(|\bset(Timeout|Interval|Immediate)\b|\bconsole\b|\brandom(UUID|Bytes|Int|FillSync)\b/;

/** The rooms from the ground up; those of one floor know nothing of each other. */
const FLOORS = [
  ["runtime"],
  ["stores"],
  ["events"],
  ["config", "commands"],
  ["audit", "projections"],
  ["queries"],
  ["redirect", "webhooks", "sign-in"],
  ["limits", "qr"],
  ["api", "transfer"],
  ["portal"],
  ["service"],
  ["cli"],
];

/** At most about fifteen files a folder, so that its listing can be taken in at a glance. */
const MOST_FILES = 16;

describe("the architecture", () => {
  it("keeps events, deciders and projections free of clock, randomness, environment and I/O", () => {
    const pure = inSource.filter(isPure);
    expect(closure(pure.map((source) => source.path)).flatMap(impurities)).toEqual([]);
    const rooms = pure.map((source) => source.folder);
    expect(rooms).toEqual(expect.arrayContaining(["events", "commands", "projections"]));
  });

  it("imports database drivers in adapters only", () => {
    expect(imports((from, to) => inService(from) && DRIVERS.includes(to) && !isAdapter(from))).toEqual([]);
  });

  it("takes nothing of the event store's client but its public face", () => {
    const behind = /^@eventstore\/db-client\/|^@grpc\/|^google-protobuf|^protobufjs/;
    expect(imports((from, to) => inService(from) && behind.test(to))).toEqual([]);
  });

  it("imports adapters in service/stores/, in other adapters and in tests only", () => {
    const opens = ({ path }: Source) => path.startsWith("src/service/stores/");
    const besides = ({ path }: Source) => path.startsWith("test/");
    const allowed = (from: Source) => opens(from) || besides(from) || isAdapter(from);
    expect(resolved((from, to) => isAdapter(to) && !allowed(from))).toEqual([]);
  });

  it("keeps commands apart from projections, queries, redirect and webhooks", () => {
    const readSide = ["projections", "queries", "redirect", "webhooks"];
    expect(resolved((from, to) => from.folder === "commands" && readSide.includes(to.folder))).toEqual([]);
  });

  it("imports routes from their own folder and from app.ts only", () => {
    const allowed = (from: Source, to: Source) =>
      from.path === "src/service/app.ts" || from.path.startsWith("test/") || from.folder === to.folder;
    expect(resolved((from, to) => isRoute(to) && !allowed(from, to))).toEqual([]);
  });

  it("has rooms on floors: each imports only from floors below its own", () => {
    const floorOf = new Map(FLOORS.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)));
    expect([...new Set(inSource.map(({ folder }) => folder))].filter((room) => !floorOf.has(room))).toEqual([
      "",
    ]);
    const upwards = resolved(
      (from, to, kind) =>
        // The service starts the thread that runs the operator's commands.
        kind !== "worker" &&
        inService(from) &&
        from.folder !== "" &&
        from.folder !== to.folder &&
        (floorOf.get(from.folder) ?? 0) <= (floorOf.get(to.folder) ?? 0),
    );
    expect(upwards).toEqual([]);
  });

  it("binds no bare parameter as the limit of a search of SQLite, which would prepare it anew", () => {
    const bare = inSource.filter(({ code }) => /\bLIMIT ([?:@]|\$(?!\{))/.test(code));
    expect(bare.map(({ path }) => path)).toEqual([]);
  });

  it("has nothing but the entry point beside the rooms", () => {
    expect(inSource.filter(({ folder }) => folder === "").map(({ path }) => path)).toEqual(["src/cli.ts"]);
  });

  it("has no folder of more than about fifteen files", () => {
    const perFolder = Object.groupBy(inSource, ({ path }) => path.slice(0, path.lastIndexOf("/")));
    const crowded = Object.entries(perFolder).filter(([, files = []]) => files.length > MOST_FILES);
    expect(crowded.map(([folder]) => folder)).toEqual([]);
  });

  it("never imports tests or benchmarks from the service", () => {
    expect(resolved((from, to) => inService(from) && !inService(to))).toEqual([]);
  });

  it("folds a build without knowing which builds there are", () => {
    const isOf = (folder: string, { path }: Source) => path.startsWith(`src/projections/${folder}/`);
    expect(resolved((from, to) => isOf("fold", from) && isOf("builds", to))).toEqual([]);
  });

  it("has no import cycle", () => {
    expect(cycles()).toEqual([]);
  });

  it("has no file that neither the service, the command line nor an adapter's contract reaches", () => {
    const contracts = [...sources.keys()].filter((path) => path.startsWith("test/contract/"));
    const programs = closure(["src/cli.ts"], { everything: true });
    const adapters = closure(contracts, { everything: true }).filter(isAdapter);
    const reached = new Set([...programs, ...adapters].map(({ path }) => path));
    const orphans = inSource.map(({ path }) => path).filter((path) => !reached.has(path));
    expect(orphans).toEqual([]);
  });

  it("imports only files that exist", () => {
    expect(imports((_, to) => to.startsWith("missing "))).toEqual([]);
  });
});

/** `from -> to` of every import, packages included, that the rule forbids. */
function imports(forbidden: (from: Source, to: string, kind: Import["kind"]) => boolean): string[] {
  return [...sources.values()].flatMap((from) =>
    from.imports.filter(({ to, kind }) => forbidden(from, to, kind)).map(({ to }) => `${from.path} -> ${to}`),
  );
}

function resolved(forbidden: (from: Source, to: Source, kind: Import["kind"]) => boolean): string[] {
  return imports((from, path, kind) => {
    const to = sources.get(path);
    return to !== undefined && forbidden(from, to, kind);
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
      kind !== "type" &&
      (DRIVERS.includes(to) || (to.startsWith("node:") && !PURE_PARTS_OF_NODE.includes(to))),
  );
  return [
    ...(found ? [`${source.path}: ${found[0]}`] : []),
    ...outside.map(({ to }) => `${source.path} -> ${to}`),
  ];
}

/** One line for each cycle; in the service types count too. Worker threads start anew, so they may point back. */
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
      if (kind === "value" || (kind === "type" && path.startsWith("src/"))) visit(to, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of sources.keys()) visit(path, []);
  return found;
}
