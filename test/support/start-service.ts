// The real service in this process, on a free port with a data folder of its own, and how tests talk to it.
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { addDomain } from "../../src/commands/add-domain.ts";
import { chance } from "../../src/commands/chance.ts";
import { changeTier } from "../../src/commands/change-tier.ts";
import { deactivateKey } from "../../src/commands/deactivate-key.ts";
import { issueKey } from "../../src/commands/issue-key.ts";
import { openAccount } from "../../src/commands/open-account.ts";
import { verifyDomain } from "../../src/commands/verify-domain.ts";
import { parseConfig } from "../../src/config.ts";
import type { Tier } from "../../src/events/vocabulary.ts";
import { createLogger } from "../../src/logging.ts";
import { openService } from "../../src/service.ts";
import { operator } from "./command-deps.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export type Answer<T> = {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  bytes: Buffer;
  body: T;
};

export type Ask = {
  method?: string;
  key?: string;
  /** The Host header; the base host by default. */
  host?: string;
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is text already. */
  body?: unknown;
};

export type Member = { accountId: string; key: string; keyId: string };
export type TestService = Awaited<ReturnType<typeof startTestService>>;

/** Short links begin with this, whatever port the service got. */
export const BASE_URL = "http://localhost";

/** `logged`: every line the service wrote, at the level given. */
export async function startTestService(environment: Record<string, string> = {}, clock = chance.clock) {
  const folder = await temporaryFolder();
  const config = parseConfig({
    PORT: "0",
    BASE_URL,
    DATA_DIR: folder.path,
    LOG_LEVEL: "info",
    ...environment,
  });
  const logged: string[] = [];
  const log = createLogger(config.logLevel, { write: (line: string) => void logged.push(line) });
  const service = await openService(config, log, { clock });
  const { backend, url } = service;
  const port = Number(new URL(url).port);
  const { secrets, eventStore } = backend;
  const deps = {
    ...chance,
    clock,
    eventStore,
    secrets,
    keyPrefix: config.keyPrefix,
    baseHost: config.baseHost,
  };
  let accounts = 0;
  // The projector's first word: from here on a wait is for what the test did, not for the start.
  while ((await send(port, "/health/ready", {})).status !== 200) await chance.sleep(10);

  const ask = <T = Record<string, unknown>>(path: string, given: Ask = {}): Promise<Answer<T>> =>
    send<T>(port, path, given);

  return {
    url,
    port,
    config,
    backend,
    logged,
    ask,
    post: <T = Record<string, unknown>>(
      path: string,
      key: string | undefined,
      body: unknown,
      more: Ask = {},
    ) => ask<T>(path, { method: "POST", body, ...(key === undefined ? {} : { key }), ...more }),
    /** An account of the tier with one active key. */
    async member(tier: Tier): Promise<Member> {
      accounts += 1;
      const email = `member-${accounts}@example.com`;
      const { accountId } = await openAccount(deps, operator, { email, tier });
      const { key, keyId } = await issueKey(deps, operator, accountId, {});
      return { accountId, key, keyId };
    },
    issueKey: (accountId: string) => issueKey(deps, operator, accountId, {}),
    deactivateKey: (accountId: string, keyId: string) => deactivateKey(deps, operator, accountId, keyId),
    changeTier: (accountId: string, tier: Tier) => changeTier(deps, operator, accountId, tier),
    /** Adds a custom domain; verified unless told otherwise. Answers its id, empty while unverified. */
    async domain(accountId: string, hostname: string, options = { verify: true }): Promise<string> {
      await addDomain(deps, operator, accountId, hostname);
      if (!options.verify) return "";
      const noDns = { ...deps, resolveTxt: async () => [] };
      return (await verifyDomain(noDns, operator, accountId, hostname, { skipDns: true })).domainId;
    },
    async stop() {
      await service.stop();
      await folder.remove();
    },
  };
}

/** `node:http` and not fetch: it sends any Host and any path as they are. */
export function send<T>(port: number, path: string, given: Ask): Promise<Answer<T>> {
  const text =
    given.body === undefined || typeof given.body === "string" ? given.body : JSON.stringify(given.body);
  const headers: Record<string, string> = { host: given.host ?? "localhost", ...given.headers };
  if (given.key !== undefined) headers["x-api-key"] = given.key;
  if (text !== undefined) {
    headers["content-type"] ??= "application/json";
    headers["content-length"] ??= String(Buffer.byteLength(text as string));
  }
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: "127.0.0.1",
      port,
      path,
      method: given.method ?? "GET",
      headers,
      agent: false,
    });
    request.on("error", reject);
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const bytes = Buffer.concat(chunks);
        const isJson = response.headers["content-type"]?.startsWith("application/json") && bytes.length > 0;
        const body = (isJson ? JSON.parse(bytes.toString()) : undefined) as T;
        const status = response.statusCode ?? 0;
        resolve({ status, headers: response.headers, text: bytes.toString(), bytes, body });
      });
    });
    request.end(text);
  });
}
