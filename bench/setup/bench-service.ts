// The service of a benchmark: a data folder that is removed afterwards, links, the process, and the same stores opened here.
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, parseConfig } from "../../src/config/config.ts";
import { type Backend, openBackend } from "../../src/service/stores/backend.ts";
import {
  type Environment,
  instanceOf,
  type ServiceProcess,
  startService,
} from "../../test/support/service/service-process.ts";
import { type Load, startLoad } from "../load/load.ts";
import { seedLinks } from "./seed.ts";

/** Stores in a folder of their own, before or without a service. */
export type Prepared = {
  instance: Environment;
  config: Config;
  backend: Backend;
  dataDir: string;
  /** Of the account that all links belong to. */
  accountId: string;
};

export type Running = Prepared & { service: ServiceProcess; pid: number; readyAfterS: number; load: Load };

type Setup = { links: number; environment?: Environment };

/** Opens stores and fills them with links; removes the folder when `work` has settled, or the process exits before. */
export async function withStores<T>(
  { links, environment = {} }: Setup,
  work: (prepared: Prepared) => Promise<T>,
): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), "linkledger-bench-"));
  const remove = () => rmSync(dataDir, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    const instance = await instanceOf(dataDir, environment);
    const config = parseConfig(instance);
    const backend = await openBackend(config);
    try {
      await backend.prepare();
      const accountId = await seedLinks(backend, config.baseUrl, links);
      return await work({ instance, config, backend, dataDir, accountId });
    } finally {
      await backend.close();
    }
  } finally {
    process.off("exit", remove);
    remove();
  }
}

/** The same with a service and a load generator. `seed`: fills the stores further before the service starts. */
export async function withService<T>(
  { seed, ...setup }: Setup & { seed?: (prepared: Prepared) => Promise<void> },
  work: (running: Running) => Promise<T>,
): Promise<T> {
  return await withStores(setup, async (prepared) => {
    await seed?.(prepared);
    const starting = performance.now();
    const service = await startService(prepared.instance);
    const readyAfterS = (performance.now() - starting) / 1000;
    const load = startLoad();
    try {
      return await work({ ...prepared, service, pid: service.child.pid ?? 0, readyAfterS, load });
    } finally {
      await Promise.all([load.stop(), service.stop()]);
    }
  });
}
