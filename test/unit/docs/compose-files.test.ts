// The Compose files hold what docs/operations.md says of them; no Docker is needed to know.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { parseConfig } from "../../../src/config/config.ts";
import { SETTINGS } from "../../../src/config/settings.ts";
import { PROCESS_ROLES } from "../../../src/service/roles/role.ts";

type Service = {
  image?: string;
  build?: unknown;
  command?: string[];
  entrypoint?: string[];
  restart?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  extends?: { file: string; service: string };
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: unknown;
  volumes?: string[];
};
type ComposeFile = { services: Record<string, Service>; volumes: Record<string, unknown> };

const root = fileURLToPath(new URL("../../..", import.meta.url));
const text = (file: string) => readFileSync(join(root, file), "utf8");
const require = createRequire(import.meta.url);
const schema = JSON.parse(readFileSync(require.resolve("docker-compose/schema/compose-spec.json"), "utf8"));
const FILES = ["docker-compose.embedded.yml", "docker-compose.yml", "docker-compose.cluster.yml"];
const BASE = "deploy/linkledger.compose.yml";

/** Said by the image, or by each file for its own stores. */
const NOT_PASSED = ["PORT", "HOST", "DATA_DIR", "EVENTSTORE_URL", "MONGODB_URL", "REDIS_URL"];

/** `${NAME}`, `${NAME:-default}`, `${NAME-default}` and `${NAME:?message}`, as Compose fills them in. */
const VARIABLE = /(?<!\$)\$\{([A-Z0-9_]+)(?::?([-?])([^}]*))?\}/g;

/** A file as it is written, and with what its services extend, whose environment they add to. */
function composeFile(file: string) {
  const written = parse(text(file), { merge: true }) as ComposeFile;
  const services = Object.entries(written.services).map(([name, { extends: base, ...own }]) => {
    if (base === undefined) return [name, own] as const;
    expect(base).toEqual({ file: BASE, service: "linkledger" });
    const { services: bases } = parse(text(base.file)) as ComposeFile;
    const inherited = bases[base.service] as Service;
    return [
      name,
      { ...inherited, ...own, environment: { ...inherited.environment, ...own.environment } },
    ] as const;
  });
  return { written, services: services as [string, Service][] };
}

describe.each(FILES)("%s", (file) => {
  const { written: compose, services } = composeFile(file);
  const oneShot = ({ restart }: Service) => restart === "no";
  const ours = services.filter(([, service]) => service.build !== undefined && !oneShot(service));
  const serving = ours.filter(([, { command = [] }]) => command[0] === "serve");

  it("is valid by the Compose specification", () => {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const valid = ajv.compile({ ...schema, $schema: "http://json-schema.org/draft-07/schema#" });
    expect(valid(compose), JSON.stringify(valid.errors)).toBe(true);
  });

  it("lets services wait only for services that there are, in a way that can come true", () => {
    for (const [name, { depends_on = {} }] of services) {
      for (const [needed, { condition }] of Object.entries(depends_on)) {
        const service = new Map(services).get(needed);
        expect(service, `${name} needs ${needed}`).toBeDefined();
        const expected = service && oneShot(service) ? "service_completed_successfully" : "service_healthy";
        expect(condition, `${name} waits for ${needed}`).toBe(expected);
      }
    }
  });

  it("pins every image, restarts what stops, and knows by a health check what runs", () => {
    for (const [name, service] of services) {
      expect(service.image, name).toMatch(/:(\d+\.\d+|local)$/);
      if (oneShot(service)) continue;
      expect(service.restart, name).toBe("unless-stopped");
      // Ours have theirs in the Dockerfile.
      expect(service.healthcheck ?? service.build, name).toBeDefined();
    }
  });

  it("declares every volume and mounts only files that are in the repository", () => {
    const mounted = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(":")[0]));
    for (const source of mounted) {
      if (source?.startsWith("./")) expect(existsSync(join(root, source)), source).toBe(true);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
    expect(new Set(Object.keys(compose.volumes))).toEqual(
      new Set(mounted.filter((source) => !source?.startsWith("./"))),
    );
  });

  it("holds no secret: each comes from the environment and has no default", () => {
    for (const [name, { environment = {} }] of services) {
      for (const [variable, value] of Object.entries(environment)) {
        if (/PASSWORD|SECRET|TOKEN|AUTH$/.test(variable))
          expect(value, `${name} ${variable}`).toMatch(/^\$\{/);
        const password = /:\/\/[^@/]*:(.*?)@/.exec(value.replace(VARIABLE, "$$$1"))?.[1];
        if (password) expect(password, `${name} ${variable}`).toMatch(/^\$[A-Z_]+$/);
      }
    }
    for (const [, name, operator, given] of text(file).matchAll(VARIABLE))
      if (/PASSWORD|SECRET/.test(name ?? "")) expect([operator, given === ""], name).toEqual(["?", false]);
  });

  it("says in its first lines which values of .env it can't do without", () => {
    const needed = [...text(file).matchAll(VARIABLE)].filter(([, , operator]) => operator === "?");
    const [, said = ""] = /\.env +# and set (.+)$/m.exec(text(file)) ?? [];
    expect(new Set(said.split(/, | and /))).toEqual(new Set(needed.map(([, name]) => name)));
  });

  it("passes every setting on to every process, as .env has it, and nothing that is none", () => {
    expect(serving.length).toBeGreaterThan(0);
    const known = Object.values(SETTINGS).map(({ variable }) => variable as string);
    const passed = known.filter((variable) => !NOT_PASSED.includes(variable));
    for (const [name, { environment = {} }] of serving) {
      expect(Object.keys(environment), name).toEqual(expect.arrayContaining(passed));
      expect(known, name).toEqual(expect.arrayContaining(Object.keys(environment)));
      for (const variable of passed)
        expect(environment[variable], `${name} ${variable}`).toMatch(
          new RegExp(`^\\$\\{${variable}(:?-|:\\?)`),
        );
      const unset = Object.entries(environment).map(([variable, value]) => [variable, fill(value, {})]);
      expect(parseConfig(Object.fromEntries(unset)), name).toMatchObject({ signUp: "open", keyPrefix: "ll" });
      const closed = Object.entries(environment).map(([variable, value]) => [
        variable,
        fill(value, { SIGN_UP: "closed" }),
      ]);
      expect(parseConfig(Object.fromEntries(closed)), name).toMatchObject({ signUp: "closed" });
    }
  });

  it("lets our containers write nowhere but to their volumes, and gives them no right of the system's", () => {
    for (const [name, { read_only, cap_drop, security_opt }] of ours)
      expect({ read_only, cap_drop, security_opt }, name).toEqual({
        ...{ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] },
      });
  });

  it("keeps the event store's administrator from the service, which has a user of its own", () => {
    for (const [name, { environment = {} }] of ours) {
      expect(JSON.stringify(environment), name).not.toContain("EVENTSTORE_ADMIN_PASSWORD");
      expect(environment.EVENTSTORE_URL ?? "", name).not.toMatch(/:\/\/(?:admin|ops):/);
    }
  });

  it("runs every role", () => {
    const roles = serving.flatMap(([, { command = [] }]) => command[2]?.split(",") ?? PROCESS_ROLES);
    expect(new Set(roles)).toEqual(new Set(PROCESS_ROLES));
  });
});

it("has every variable that a Compose file can't do without in .env.example, and none that no file takes", () => {
  const used = [...FILES, BASE].flatMap((file) => [...text(file).matchAll(VARIABLE)]);
  const named = [...text(".env.example").matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name]) => name);
  expect(used.map(([, name]) => name)).toEqual(expect.arrayContaining(named));
  expect(named).toEqual(expect.arrayContaining(used.flatMap(([, name, how]) => (how === "?" ? [name] : []))));
});

/** As Compose fills a value in with these variables set, and those that must be. */
function fill(value: string, set: Readonly<Record<string, string>>): string {
  return value.replace(VARIABLE, (_, name: string, how?: string, given = "") => {
    if (how === "?") return name === "BASE_URL" ? "https://links.example.com" : "0123456789abcdef".repeat(4);
    return set[name] ?? given;
  });
}
