// Clients that generators make from our OpenAPI document compile, in Python and Go, and call the service. That for
// TypeScript is a package of ours (client-package.test.ts).
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { onServerAtLength, type Server } from "../support/servers/test-servers.ts";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const installed = fileURLToPath(new URL("../../.cache/clients", import.meta.url));
const GO_ENVIRONMENT = { GOTOOLCHAIN: "auto", PATH: `${process.env.PATH}:/usr/local/go/bin` };

/** Resolves to what is printed; what a generator or a compiler complains of is the error. */
async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, ...GO_ENVIRONMENT, NODE_OPTIONS: "" };
  const ran = promisify(execFile)(program, args, { cwd, env, maxBuffer: 1e8 });
  const { stdout } = await ran.catch(({ message, stdout: printed }: Error & { stdout: string }) => {
    throw new Error(`${message}\n${printed}`);
  });
  return stdout;
}

/** A language: `generate` and `compile` in a folder that has openapi.json and the program; `command`: how it is run. */
type Client = {
  name: string;
  generator: string;
  build(folder: string): Promise<void>;
  command: readonly [string, ...string[]];
};

const CLIENTS: readonly Client[] = [
  {
    name: "python",
    generator: join(installed, "python/bin/openapi-python-client"),
    async build(folder) {
      const options = "--path openapi.json --meta none --config generator.yaml --fail-on-warning";
      await run(
        folder,
        this.generator,
        "generate",
        ...options.split(" "),
        "--output-path",
        "linkledger_client",
      );
      await run(folder, join(installed, "python/bin/python"), "-m", "compileall", "-q", ".");
    },
    command: [join(installed, "python/bin/python"), "program.py"],
  },
  {
    name: "go",
    generator: join(installed, "go/oapi-codegen"),
    async build(folder) {
      await mkdir(join(folder, "generated"));
      const options = "-generate types,client -package generated -o generated/client.go openapi.json";
      await run(folder, this.generator, ...options.split(" "));
      await run(folder, "go", "vet", "./...");
      await run(folder, "go", "build", "-o", "program", ".");
    },
    command: ["./program"],
  },
];

for (const client of CLIENTS) {
  const { name, generator, command } = client;
  const server: Server = {
    name: `a generator for ${name}`,
    reason: existsSync(generator) ? undefined : "run .ci/clients/install.sh",
  };
  onServerAtLength(server, () => {
    let service: TestService;
    let member: Member;
    let folder: TemporaryFolder;
    beforeAll(async () => {
      service = await startTestService();
      member = await service.member("developer");
      folder = await temporaryFolder();
      await cp(join(here, name), folder.path, { recursive: true });
      await writeFile(join(folder.path, "openapi.json"), (await service.ask("/openapi.json")).text);
    });
    afterAll(async () => {
      await service.stop();
      await folder.remove();
    });

    it(`a generated client in ${name} compiles, and reads what it makes`, { timeout: 300_000 }, async () => {
      await client.build(folder.path);
      const [program, ...args] = command;
      const call = async () =>
        JSON.parse(await run(folder.path, program, ...args, service.url, member.key)) as { slug: string };
      const first = await call();
      expect(first).toEqual({
        slug: expect.stringMatching(/^\w{7}$/),
        status: "live",
        recent: [],
        days: 1,
        created: [`https://example.com/${name}`],
        code: "not_found",
      });
    });
  });
}
