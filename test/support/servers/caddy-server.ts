// The shipped Caddyfile run by a real Caddy on loopback, with certificates of its own authority.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "../runtime/temporary-folder.ts";
import { freePort } from "./free-port.ts";
import type { Server } from "./test-servers.ts";

const installed = (process.env.PATH ?? "")
  .split(delimiter)
  .some((folder) => existsSync(join(folder, "caddy")));

export const caddy: Server = { name: "caddy", reason: installed ? undefined : "install caddy" };

export type TestCaddy = {
  httpsPort: number;
  httpPort: number;
  /** Certificate of the authority, PEM; there once the first certificate is. */
  authority(): Promise<string>;
  stop(): Promise<void>;
};

const LISTENS = /serving initial configuration/;

/** `service`: `127.0.0.1:port` of one process that has every role. `baseUrl`: as the service's. */
export async function startCaddy(service: string, baseUrl: string, secret: string): Promise<TestCaddy> {
  const folder = await temporaryFolder();
  const environment = {
    PATH: process.env.PATH ?? "",
    HOME: folder.path,
    XDG_DATA_HOME: folder.path,
    BASE_URL: baseUrl,
    API: service,
    REDIRECTS: service,
    ASK: `http://${service}`,
    TLS_ASK_SECRET: secret,
  };
  const { stdout } = await promisify(execFile)("caddy", ["adapt", "--config", "deploy/Caddyfile"], {
    env: environment,
  });
  const [httpsPort, httpPort] = [await freePort(), await freePort()];
  const file = join(folder.path, "caddy.json");
  await writeFile(file, JSON.stringify(onLoopback(JSON.parse(stdout), httpsPort, httpPort)));
  const child = spawn("caddy", ["run", "--config", file], {
    env: environment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await listening(child);
  return {
    httpsPort,
    httpPort,
    authority: () => readFile(join(folder.path, "caddy", "pki", "authorities", "local", "root.crt"), "utf8"),
    async stop() {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
      await folder.remove();
    },
  };
}

type CaddyConfig = {
  admin?: object;
  apps: {
    http: { http_port?: number; https_port?: number; servers: Record<string, { listen: string[] }> };
    tls: { automation: { policies?: object[] } };
    pki?: object;
  };
};

/** The same routes and the same question before each certificate; only addresses and the authority differ. */
function onLoopback(config: CaddyConfig, httpsPort: number, httpPort: number): CaddyConfig {
  const { http, tls } = config.apps;
  http.http_port = httpPort;
  http.https_port = httpsPort;
  for (const server of Object.values(http.servers))
    server.listen = server.listen.map((address) => `127.0.0.1:${address === ":443" ? httpsPort : httpPort}`);
  tls.automation.policies = [{ on_demand: true, issuers: [{ module: "internal" }] }];
  config.apps.pki = { certificate_authorities: { local: { install_trust: false } } };
  config.admin = { disabled: true };
  return config;
}

async function listening(child: ChildProcess): Promise<void> {
  let printed = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      if (LISTENS.test(printed)) resolve();
    });
    child.once("exit", (code) => reject(new Error(`caddy ended with ${code}:\n${printed}`)));
  });
}
