// A primary and a replica of Redis, watched by a sentinel, all of them Debian's redis-server on free ports.
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { Redis } from "ioredis";
import { temporaryFolder } from "../runtime/temporary-folder.ts";
import { freePort } from "./free-port.ts";
import { type ServerProcess, serverProcess } from "./test-servers.ts";

export type TestSentinels = {
  /** The sentinel's, behind one that hangs. */
  url: string;
  primary: ServerProcess;
  /** That the sentinel knows and finds well. */
  replicas(): Promise<number>;
  stop(): Promise<void>;
};

const PASSWORD = "p@ss,word";
const SENTINEL_PASSWORD = "for&sentinels";

export async function startSentinels(): Promise<TestSentinels> {
  const folder = await temporaryFolder();
  const [first, second, watcher] = [await freePort(), await freePort(), await freePort()];
  // Accepts connections and never answers, as a sentinel that hangs.
  const hung = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
  await once(hung, "listening");
  const { port: deaf } = hung.address() as AddressInfo;
  const server = (port: number, ...more: string[]) =>
    serverProcess(port, [
      "redis-server",
      ...["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
      ...["--dir", folder.path, "--requirepass", PASSWORD, "--masterauth", PASSWORD],
      ...["--repl-diskless-sync-delay", "0", "--dbfilename", `${port}.rdb`, ...more],
    ]);
  const file = join(folder.path, "sentinel.conf");
  const settings = [
    `port ${watcher}`,
    "bind 127.0.0.1",
    `dir ${folder.path}`,
    `requirepass ${SENTINEL_PASSWORD}`,
    `sentinel monitor main 127.0.0.1 ${first} 1`,
    `sentinel auth-pass main ${PASSWORD}`,
    "sentinel down-after-milliseconds main 500",
    "sentinel failover-timeout main 5000",
  ];
  await writeFile(file, `${settings.join("\n")}\n`);
  const primary = server(first);
  const replica = server(second, "--replicaof", `127.0.0.1 ${first}`);
  const sentinel = serverProcess(watcher, ["redis-server", file, "--sentinel"]);
  for (const process of [primary, replica, sentinel]) await process.start();
  const [user, query] = [encodeURIComponent(PASSWORD), encodeURIComponent(SENTINEL_PASSWORD)];
  return {
    url: `redis+sentinel://:${user}@127.0.0.1:${deaf},127.0.0.1:${watcher}/main/0?sentinel_password=${query}`,
    primary,
    async replicas() {
      const client = new Redis({ port: watcher, password: SENTINEL_PASSWORD });
      const [main] = (await client.call("SENTINEL", "replicas", "main")) as string[][];
      client.disconnect();
      return main?.includes("slave") ? 1 : 0;
    },
    async stop() {
      for (const process of [sentinel, replica, primary]) await process.kill();
      hung.close();
      await folder.remove();
    },
  };
}
