// Reads the sources' import lines, so that the architecture test can check who imports whom.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** `to` is a path from the project's root, a package or `missing <path>`. */
export type Import = { to: string; kind: "value" | "type" | "worker" };

/** `folder`: the room, the first level below src; `code`: without comments and strings' contents left in place. */
export type Source = { path: string; folder: string; code: string; imports: Import[] };

/** Every TypeScript file below the folders, by its path from the project's root. */
export function readSources(folders: readonly string[]): Map<string, Source> {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => join(folder, file)),
  );
  return new Map(paths.map((path) => [path, readSource(path)]));
}

/** Adapters are named after what they adapt: `counts.redis.ts` beside `counts.ts`; one of many files is a folder. */
export function isAdapter({ path }: Source): boolean {
  return /^src\/(.*[/.-])?(sqlite|eventstoredb|mongodb|redis)([/.-]|$)/.test(path);
}

/** The event catalogue, deciders (they evolve a state) and definitions of projections. */
export function isPure({ path, code }: Source): boolean {
  if (path.startsWith("src/events/")) return true;
  if (path.startsWith("src/commands/")) return /export (function|const) \w*[eE]volve\w*/.test(code);
  return path.startsWith("src/projections/definitions/");
}

/** A file that registers HTTP routes. */
export function isRoute({ path, code }: Source): boolean {
  return path !== "src/service/app.ts" && /\b\w*[aA]pp\.(get|post|put|patch|delete|head|route)\(/.test(code);
}

function readSource(path: string): Source {
  const code = readFileSync(join(root, path), "utf8").replace(/^\s*(\/\/|\/?\*).*$/gm, "");
  return { path, folder: path.split("/").slice(1, -1)[0] ?? "", code, imports: readImports(path, code) };
}

function readImports(path: string, code: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: string | undefined, kind: Import["kind"]) => {
    if (specifier) found.push({ to: resolve(path, specifier), kind });
  };
  for (const [, type, specifier] of code.matchAll(
    /^(?:import|export)\s+(type\s)?[^;"']*?from\s+"([^"]+)"/gm,
  )) {
    add(specifier, type ? "type" : "value");
  }
  for (const [, specifier] of code.matchAll(/^import\s+"([^"]+)"/gm)) add(specifier, "value");
  for (const [, specifier] of code.matchAll(/\bimport\(\s*"([^"]+)"\s*\)/g)) add(specifier, "value");
  for (const [, specifier] of code.matchAll(/new URL\(\s*"([^"]+\.ts)",\s*import\.meta\.url/g)) {
    add(specifier, "worker");
  }
  return found;
}

function resolve(from: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  const path = normalize(join(dirname(from), specifier));
  return existsSync(join(root, path)) ? path : `missing ${path}`;
}
