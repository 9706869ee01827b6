// The service of a benchmark: its own data folder or servers, links, the process, and the same stores opened here.
import { type Backend, openBackend } from "../../src/backend.ts";
import { type Config, parseConfig } from "../../src/config.ts";
import {
  type Environment,
  instanceOf,
  type ServiceProcess,
  startService,
} from "../../test/support/service/service-process.ts";
import type { Options } from "../options.ts";
import { withDataFolder } from "./data-folder.ts";
import { profiling } from "./profiling.ts";
import { seedLinks } from "./seed-links.ts";
import { benchServers } from "./servers.ts";

export type BenchService = {
  service: ServiceProcess;
  pid: number;
  /** Restarts it on the same data with the same settings; the earlier process has been stopped. */
  start: () => Promise<ServiceProcess>;
  instance: Environment;
  config: Config;
  /** The service's stores, opened a second time. */
  backend: Backend;
  dataDir: string;
  accountId: string;
};

export type ServiceOptions = {
  links: number;
  environment?: Environment;
  /** Fills the stores before the service starts. */
  seed?: (prepared: Pick<BenchService, "backend" | "config" | "accountId" | "dataDir">) => Promise<void>;
};

/** `work` may stop the service itself. Everything is removed afterwards. */
export async function withService<T>(
  options: Pick<Options, "double" | "profile" | "workers">,
  { links, environment = {}, seed = async () => {} }: ServiceOptions,
  work: (bench: BenchService) => Promise<T>,
): Promise<T> {
  const servers = await benchServers(options.double);
  try {
    return await withDataFolder(async (dataDir) => {
      const instance = await instanceOf(dataDir, {
        ...servers.environment,
        ...environment,
        ...profiling(options.profile),
      });
      const config = parseConfig(instance);
      const backend = await openBackend(config, { offThread: false });
      try {
        await backend.prepare();
        const accountId = await seedLinks(backend, config.baseUrl, links);
        await seed({ backend, config, accountId, dataDir });
        const more = options.workers === undefined ? [] : ["--workers", String(options.workers)];
        const start = () => startService(instance, [], undefined, more);
        const service = await start();
        try {
          const pid = service.child.pid ?? 0;
          return await work({ service, pid, start, instance, config, backend, dataDir, accountId });
        } finally {
          await service.stop();
        }
      } finally {
        await backend.close();
      }
    });
  } finally {
    await servers.stop();
  }
}
