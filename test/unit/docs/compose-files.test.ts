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

type Service = {
  image?: string;
  build?: unknown;
  command?: string[];
  entrypoint?: string[];
  restart?: string;
  read_only?: boolean;
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
const FILES = ["docker-compose.yml", "docker-compose.cluster.yml"];

/** `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, as Compose fills them in. */
const VARIABLE = /(?<!\$)\$\{([A-Z0-9_]+)(?::([-?])([^}]*))?\}/g;

describe.each(FILES)("%s", (file) => {
  const compose = parse(text(file), { merge: true }) as ComposeFile;
  const services = Object.entries(compose.services);
  const oneShot = ({ restart }: Service) => restart === "no";
  const ours = services.filter(([, service]) => service.build !== undefined && !oneShot(service));

  it("is valid by the Compose specification", () => {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const valid = ajv.compile({ ...schema, $schema: "http://json-schema.org/draft-07/schema#" });
    expect(valid(compose), JSON.stringify(valid.errors)).toBe(true);
  });

  it("lets services wait only for services that there are, in a way that can come true", () => {
    for (const [name, { depends_on = {} }] of services) {
      for (const [needed, { condition }] of Object.entries(depends_on)) {
        const service = compose.services[needed];
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
    for (const [, name, operator, given] of text(file).matchAll(VARIABLE)) {
      const isOptional = /TOKEN|_PREVIOUS$/.test(name ?? "");
      if (isOptional) expect(given, name).toBe("");
      else if (/PASSWORD|SECRET/.test(name ?? "")) expect(operator, name).toBe("?");
    }
  });

  it("says in its first lines which values of .env it can't do without", () => {
    const needed = [...text(file).matchAll(VARIABLE)].filter(([, , operator]) => operator === "?");
    const [, said = "", except = ""] = /\.env +# and set (.+?)(?: but (.+))?$/m.exec(text(file)) ?? [];
    if (said !== "every value")
      expect(new Set(said.split(" and "))).toEqual(new Set(needed.map(([, name]) => name)));
    for (const name of except.split(/, | and /)) expect(needed.map(([, one]) => one)).not.toContain(name);
  });

  it("sets for our roles only what the configuration knows and accepts", () => {
    expect(ours.length).toBeGreaterThan(0);
    const known = Object.values(SETTINGS).map(({ variable }) => variable);
    for (const [name, { environment = {}, command = [], read_only }] of ours) {
      expect(known, name).toEqual(expect.arrayContaining(Object.keys(environment)));
      const filled = Object.entries(environment).map(([variable, value]) => [variable, fill(value)]);
      expect(() => parseConfig(Object.fromEntries(filled)), name).not.toThrow();
      expect(command.slice(0, 2)).toEqual(["serve", "--roles"]);
      expect(read_only, name).toBe(true);
    }
  });

  it("keeps the event store's administrator from the service, which has a user of its own", () => {
    for (const [name, { environment = {} }] of ours) {
      expect(JSON.stringify(environment), name).not.toContain("EVENTSTORE_ADMIN_PASSWORD");
      expect(environment.EVENTSTORE_URL, name).not.toMatch(/:\/\/(?:admin|ops):/);
    }
  });

  it("passes on what the operator sells, and to whom everything is given", () => {
    for (const [name, { environment = {} }] of ours)
      for (const variable of ["PLAN_PRICE", "DEFAULT_TIER"])
        expect(environment[variable], name).toBe(`\${${variable}:-}`);
  });

  it("runs every role", () => {
    const roles = ours.flatMap(([, { command = [] }]) => command[2]?.split(",") ?? []);
    expect(new Set(roles)).toEqual(new Set(["redirect", "api", "portal", "projector", "webhooks"]));
  });
});

it("has every variable of the Compose files, and no other, in .env.example", () => {
  const used = FILES.flatMap((file) => [...text(file).matchAll(VARIABLE)].map(([, name]) => name));
  const named = [...text(".env.example").matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(used));
});

/** As Compose would with every variable set. */
function fill(value: string): string {
  const values: Record<string, string> = { BASE_URL: "https://links.example.com", DEFAULT_TIER: "free" };
  return value.replace(VARIABLE, (_, name: string) => values[name] ?? "0123456789abcdef".repeat(4));
}
