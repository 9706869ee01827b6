// One service at a time has a data folder, whatever ended the one before.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { childEnvironment } from "../support/service/child-environment.ts";
import { instanceOfSuite } from "../support/service/instance-of-suite.ts";
import {
  instanceOf,
  runCommand,
  type ServiceProcess,
  startService,
} from "../support/service/service-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PATIENT_MS = 120_000;

const instance = instanceOfSuite();

async function running(...words: string[]): Promise<ServiceProcess> {
  const service = await startService(instance, { serve: words });
  onTestFinished(() => service.stop("SIGKILL"));
  return service;
}

/** What a second `serve` on the folder prints, which ends by itself. */
async function refusal(...words: string[]) {
  const second = { ...(await instanceOf(instance.DATA_DIR ?? "")) };
  const child = spawn(process.execPath, ["src/cli.ts", "serve", ...words], {
    cwd: root,
    env: childEnvironment(second),
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [[code], out, err] = await Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);
  return { code, printed: out + err };
}

it(
  "a second service on the folder is refused in one line that names the first, which goes on beside commands",
  async () => {
    const { child, url } = await running();
    for (const words of [[], ["--roles", "projector"], ["--workers", "2"]])
      expect(await refusal(...words)).toEqual({
        code: 1,
        printed: `linkledger: DATA_DIR: ${instance.DATA_DIR} is in use by another service, process ${child.pid}: stop it, or give this one a folder of its own\n`,
      });
    const made = await runCommand<{ email: string }>(
      instance,
      "account",
      "create",
      "--email",
      "a@example.com",
    );
    expect(made.email).toBe("a@example.com");
    const { accounts } = await runCommand<{ accounts: unknown[] }>(instance, "account", "list");
    expect(accounts).toHaveLength(1);
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  },
  PATIENT_MS,
);

it(
  "a service starts on the folder at once after the one before was killed, or was stopped",
  async () => {
    // The one of the test before was killed.
    await (await running()).stop("SIGTERM");
    await (await running()).stop("SIGKILL");
  },
  PATIENT_MS,
);

it(
  "the workers of a service have the folder together, and it ends with their primary",
  async () => {
    const primary = await running("--workers", "2");
    const { code, printed } = await refusal();
    expect([code, printed]).toEqual([1, expect.stringContaining(`process ${primary.child.pid}:`)]);
    await primary.stop("SIGKILL");
    await running("--workers", "2");
  },
  PATIENT_MS,
);
