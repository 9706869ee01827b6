// The package @linkledger/client as somebody installs it from an instance into an empty folder. The examples of its README
// compile under TypeScript 5 and run as plain JavaScript against the service.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { publicKeyOf } from "../../src/commands/webhooks/signing-key.ts";
import { signatureHeaders } from "../../src/webhooks/delivery/sign.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import { chromiumServer, launchChromium } from "../support/servers/chromium.ts";
import { freePort } from "../support/servers/free-port.ts";
import { onServerAtLength } from "../support/servers/test-servers.ts";
import { childEnvironment } from "../support/service/child-environment.ts";
import { endWithThisProcess } from "../support/service/end-with-this-process.ts";
import { type Member, startTestService, type TestService } from "../support/service/start-service.ts";
import { sampleBody } from "../support/webhooks/send-sample.ts";
import { webhookOf } from "../support/webhooks/webhook-of.ts";

/** Of a key, with a seed of its own. */
const secretsOf = (key: string) => ({ key, seed: key.slice(4).padEnd(32, "0") });

const sdk = fileURLToPath(new URL("../../sdk", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/** What the tests use of it; whether its types fit is seen in the examples. */
type Call = Promise<{ data?: unknown; error?: { code: string }; response: Response }>;
type Client = {
  GET(path: string, init?: object): Call;
  POST(path: string, init: object): Call;
  items(path: string, init?: object): AsyncGenerator<{ slug: string }>;
  events(options?: object): AsyncGenerator<{ position: string; type: string }>;
};
type Package = { linkledger(options: object): Client };
type Verifying = { verifyWebhook(options: object): Promise<{ event: string }> };

const compiler = {
  name: "the compiler of TypeScript 5",
  reason: existsSync(join(sdk, "node_modules/.bin/tsc")) ? undefined : "run .ci/clients/install.sh",
};

onServerAtLength(compiler, () => {
  let service: TestService;
  let member: Member;
  let folder: TemporaryFolder;
  let environment: Record<string, string>;
  let examples: Map<string, string>;
  let client: Client;
  let linkledger: Package["linkledger"];
  let verifyWebhook: Verifying["verifyWebhook"];

  beforeAll(async () => {
    service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: "true" });
    member = await service.member("developer");
    folder = await temporaryFolder();
    environment = childEnvironment({ LINKLEDGER_URL: service.url, LINKLEDGER_KEY: member.key });
    await writeFile(join(folder.path, "package.json"), '{"type":"module"}');
    const quiet = ["--no-audit", "--no-fund", "--prefer-offline"];
    await run("npm", ["install", ...quiet, `${service.url}/sdk.tgz`], folder.path);
    examples = examplesOf(await readFile(join(sdk, "README.md"), "utf8"));
    const installed = (name: string) =>
      import(pathToFileURL(join(folder.path, "node_modules/@linkledger/client/src", name)).href);
    ({ linkledger } = (await installed("client.js")) as Package);
    ({ verifyWebhook } = (await installed("webhooks.js")) as Verifying);
    client = linkledger({ baseUrl: service.url, key: member.key });
  }, 300_000);
  afterAll(async () => {
    await service.stop();
    await folder.remove();
  });

  const program = async (title: string) => {
    const path = join(folder.path, `${title.replace(/\W+/g, "-")}.mjs`);
    await writeFile(path, examples.get(title) ?? "");
    return path;
  };
  /** What the README's example prints, line by line. */
  const printed = async (title: string) =>
    (await run(process.execPath, [await program(title)], folder.path, environment)).stdout.trim().split("\n");
  const shorten = async (url: string) =>
    (await service.post<{ slug: string; short_url: string }>("/api/v1/shorten", member.key, { url })).body;

  it("has the version of the service, and a README of six examples", async () => {
    const versionOf = async (path: string) => JSON.parse(await readFile(join(path, "package.json"), "utf8"));
    const installed = join(folder.path, "node_modules/@linkledger/client");
    const [own, service] = [await versionOf(installed), await versionOf(root)];
    expect([own.name, own.version]).toEqual(["@linkledger/client", service.version]);
    expect([...examples.keys()]).toHaveLength(6);
    expect(await readFile(join(installed, "LICENSE"), "utf8")).toContain("MIT");
  });

  it("is one that npm would publish under its name, file by file", async () => {
    const installed = join(folder.path, "node_modules/@linkledger/client");
    const { stdout } = await run("npm", ["pack", "--dry-run", "--json"], installed);
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json", "src/api.d.ts"]));
    expect(paths.filter((path) => !/^src\/[\w-]+\.(js|d\.ts)$/.test(path))).toHaveLength(3);
  });

  it("compiles in TypeScript 5, strictly, as its README uses it", async () => {
    await symlink(join(sdk, "node_modules/@types"), join(folder.path, "types"));
    const files = [...examples].map(async ([title, code], n) => {
      const name = `example-${n}.mts`;
      await writeFile(join(folder.path, name), `${code}\n// ${title}`);
      return name;
    });
    const wrong = "wrong.mts";
    const mistaken = examples
      .get("Make a link")
      ?.replace('["newsletter"]', '"newsletter"')
      .replace("link.short_url", "link.x");
    await writeFile(join(folder.path, wrong), mistaken ?? "");
    const compile = async (...names: string[]) => {
      const options = "--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --module nodenext";
      const rest = "--noEmit --target esnext --typeRoots types --types node";
      const all = [...`${options} ${rest}`.split(" "), ...names];
      return await run(join(sdk, "node_modules/.bin/tsc"), all, folder.path);
    };
    await compile(...(await Promise.all(files)));
    await expect(compile(wrong)).rejects.toThrow(/Type 'string' is not assignable(.|\n)*'x' does not exist/);
  });

  it("makes a link, once, as its README shows", async () => {
    const lines = await printed("Make a link");
    expect(lines).toEqual([expect.stringMatching(/^http:\/\/localhost\/\w{7}$/)]);
    expect(await printed("Make a link")).toEqual(lines);
  });

  it("says what was refused, as its README shows", async () => {
    expect(await printed("Change a link, unless somebody else has")).toEqual([
      "https://example.com/b precondition_failed",
    ]);
  });

  it("reads a list to its end, as its README shows, and over many pages", async () => {
    expect(await printed("Read a list to its end")).toEqual([
      expect.stringMatching(/^\w{7} live Spring sale$/),
    ]);
    for (let n = 0; n < 7; n++) await shorten(`https://example.com/page-${n}`);
    const slugs: string[] = [];
    const params = { query: { limit: 2, q: "page-" } };
    for await (const { slug } of client.items("/api/v1/links", { params })) slugs.push(slug);
    expect(new Set(slugs).size).toBe(7);
    expect(slugs).toHaveLength(7);
    const refused = client.items("/api/v1/links", { params: { query: { limit: 1_000 } } });
    await expect(refused.next()).rejects.toMatchObject({ status: 400, code: "invalid_request" });
  });

  it("reads numbers, as its README shows", async () => {
    expect(await printed("Read numbers")).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT.* 0$/)]);
  });

  it("receives a webhook, as its README shows, and refuses a forged one", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/hook`;
    const { key } = await webhookOf(service.backend, member.accountId, port);
    const path = await program("Receive webhooks");
    const receiver = started(path, folder.path, { ...environment, WEBHOOK_KEY: key, PORT: String(port) });
    const post = (headers: Record<string, string>) => fetch(url, { method: "POST", headers, body: "{}" });
    await until("the receiver to listen", () =>
      post({}).then(
        ({ status }) => status === 401,
        () => false,
      ),
    );
    expect((await post(signatureHeaders([secretsOf("whk_of_another")], "id", Date.now(), "{}"))).status).toBe(
      401,
    );
    const link = await shorten("https://example.com/hooked");
    await service.ask(`/${link.slug}`, { headers: { "user-agent": BROWSER } });
    await until("the delivery to be printed", async () => receiver.printed().includes(link.short_url));
    expect(receiver.printed()).toBe(`link.clicked ${link.short_url}\n`);
    await receiver.end();
  });

  it("verifies deliveries by what was signed alone: any change of body, id, time or key is refused", async () => {
    const key = "whk_abcdefghijklmnopqrstuvwxyz012345";
    const now = Date.parse("2026-03-01T10:15:00Z");
    const headers = signatureHeaders(
      [secretsOf("whk_543210zyxwvutsrqponmlkjihgfedcba"), secretsOf(key)],
      "id-1",
      now,
      sampleBody,
    );
    const genuine = { key, now, headers, body: sampleBody };
    expect((await verifyWebhook(genuine)).event).toBe("link.clicked");
    expect((await verifyWebhook({ ...genuine, headers: new Headers(headers) })).event).toBe("link.clicked");
    expect(
      (await verifyWebhook({ ...genuine, body: new TextEncoder().encode(sampleBody) })).event,
    ).toBeTruthy();
    const code = (changes: object) =>
      verifyWebhook({ ...genuine, ...changes }).then(
        () => "accepted",
        (error: { code: string }) => error.code,
      );
    expect(await code({ now: now + 301_000 })).toBe("wrong_time");
    expect(await code({ now: now - 301_000 })).toBe("wrong_time");
    expect(await code({ headers: {} })).toBe("missing_header");
    expect(await code({ key: `${key}x` })).toBe("wrong_signature");
    expect(await code({ headers: { ...headers, "webhook-id": "id-2" } })).toBe("wrong_signature");
    await fc.assert(
      fc.asyncProperty(fc.nat(sampleBody.length - 1), fc.string({ maxLength: 3 }), async (at, text) => {
        const body = `${sampleBody.slice(0, at)}${text}${sampleBody.slice(at + 1)}`;
        if (body !== sampleBody) expect(await code({ body })).toBe("wrong_signature");
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.string(), async (signature) => {
        expect(await code({ headers: { ...headers, "webhook-signature": `v1,${signature} x` } })).toBe(
          "wrong_signature",
        );
      }),
    );
  });

  it("verifies a v1a signature by the public key", async () => {
    const now = Date.now();
    const { headers, key } = signedByPublicKey("id-1", now);
    const genuine = { key, now, headers, body: sampleBody };
    expect((await verifyWebhook(genuine)).event).toBe("link.clicked");
    const forged = verifyWebhook({ ...genuine, body: sampleBody.replace("Chrome", "chrome") });
    await expect(forged).rejects.toMatchObject({ code: "wrong_signature" });
  });

  it("follows events, as its README shows", async () => {
    const lines = await printed("Follow events");
    expect(lines.at(-1)).toMatch(/^\d+\S* LinkCreated link\/localhost\/\w{7}$/);
  });

  it("gives each event once and in order, however often the connection breaks", async () => {
    const proxy = await breakingProxy(service.port, 9_000);
    for (let n = 0; n < 60; n++) await shorten(`https://example.com/event-${n}`);
    const all = await service.ask<{ events: { position: string }[] }>("/api/v1/events?limit=1000", {
      key: member.key,
    });
    const wanted = all.body.events.map(({ position }) => position);
    const broken = linkledger({ baseUrl: `http://127.0.0.1:${proxy.port}`, key: member.key });
    const seen: string[] = [];
    for await (const { position } of broken.events()) {
      seen.push(position);
      if (position === wanted.at(-1)) break;
    }
    expect(seen).toEqual(wanted);
    expect(proxy.broken()).toBeGreaterThan(2);
    await proxy.close();
  });

  it.skipIf(chromiumServer.reason !== undefined)("works in a browser, on a page of the service", async () => {
    const browser = await launchChromium();
    const page = await browser.newPage();
    const imports = {
      "@linkledger/client": "/sdk/@linkledger/client/src/client.js",
      "@linkledger/client/webhooks": "/sdk/@linkledger/client/src/webhooks.js",
      "openapi-fetch": "/sdk/openapi-fetch/dist/index.mjs",
    };
    const body = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
    await page.route(`${service.url}/sdk/**`, (route) => {
      const path = new URL(route.request().url()).pathname.slice("/sdk/".length);
      if (path === "page") return route.fulfill({ contentType: "text/html", body });
      return route.fulfill({ contentType: "text/javascript", path: join(folder.path, "node_modules", path) });
    });
    await page.goto(`${service.url}/sdk/page`);
    const { headers, key: publicKey } = signedByPublicKey("id-1", Date.now());
    const options = { key: publicKey, headers, body: sampleBody };
    const seen = await page.evaluate(`(async () => {
      const { dataOf, linkledger } = await import("@linkledger/client");
      const { verifyWebhook } = await import("@linkledger/client/webhooks");
      const client = linkledger({ baseUrl: location.origin, key: ${JSON.stringify(member.key)} });
      const link = await dataOf(client.POST("/api/v1/shorten", { body: { url: "https://example.com/browser" } }));
      const query = { q: "browser" };
      for await (const item of client.items("/api/v1/links", { params: { query } }))
        for await (const event of client.events({ types: ["LinkCreated"] })) {
          const { event: name } = await verifyWebhook(${JSON.stringify(options)});
          return [item.slug === link.slug, event.type, name];
        }
    })()`);
    expect(seen).toEqual([true, "LinkCreated", "link.clicked"]);
    await browser.close();
  });

  it("ends following by its signal, when the loop is left, and for a key that is refused", async () => {
    const ending = new AbortController();
    const events = client.events({ signal: ending.signal, types: ["AccountClosed"] });
    const next = events.next();
    ending.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    const refused = linkledger({ baseUrl: service.url, key: "ll_nonsense" }).events();
    await expect(refused.next()).rejects.toMatchObject({ status: 401, code: "invalid_api_key" });
  });

  it("sends again only what may be repeated, and waits only as long as it may", async () => {
    const received: string[] = [];
    const answers: [status: number, retryAfter?: string][] = [];
    const server = createHttpServer(async (request, answer) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      received.push(`${request.method} ${body}`);
      const [status, retryAfter] = answers.shift() ?? [200];
      if (status === 0) return void request.socket.destroy();
      answer.writeHead(status, {
        "content-type": "application/json",
        ...(retryAfter !== undefined && { "retry-after": retryAfter }),
      });
      return void answer.end("{}");
    });
    const { port, close } = await listening(server);
    const here = linkledger({
      baseUrl: `http://127.0.0.1:${port}`,
      key: "any",
      retries: 2,
      maxWaitMs: 5_000,
    });
    const outcome = async (replies: typeof answers, call: () => Call) => {
      received.length = 0;
      answers.splice(0, answers.length, ...replies);
      const status = await call().then(
        ({ response }) => response.status,
        () => "broken",
      );
      return [status, received.length];
    };
    const get = () => here.GET("/api/v1/links");
    const post = (header: object) => () =>
      here.POST("/api/v1/shorten", { params: { header }, body: { url: "https://example.com/" } });
    const keyed = post({ "idempotency-key": "1" });
    expect(
      await outcome(
        [
          [503, "0"],
          [429, "0"],
        ],
        get,
      ),
    ).toEqual([200, 3]);
    expect(await outcome([[0], [502]], get)).toEqual([200, 3]);
    expect(
      await outcome(
        [
          [503, "0"],
          [503, "0"],
          [503, "0"],
        ],
        get,
      ),
    ).toEqual([503, 3]);
    expect(await outcome([[429, "3600"]], get)).toEqual([429, 1]);
    expect(await outcome([[500]], get)).toEqual([500, 1]);
    expect(await outcome([[503, "0"]], post({}))).toEqual([503, 1]);
    expect(await outcome([[0]], post({}))).toEqual(["broken", 1]);
    expect(await outcome([[0], [503, "0"]], keyed)).toEqual([200, 3]);
    expect(new Set(received)).toEqual(new Set(['POST {"url":"https://example.com/"}']));
    await close();
  });
});

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = childEnvironment({}),
): Promise<{ stdout: string }> {
  const ran = promisify(execFile)(command, args, { cwd, env, maxBuffer: 1e8 });
  return await ran.catch(({ message, stdout }: Error & { stdout: string }) => {
    throw new Error(`${message}\n${stdout}`);
  });
}

/** Of the sample, with a pair of keys of its own, as deliveries are; another's signatures come first. */
function signedByPublicKey(id: string, now: number) {
  const [other, own] = ["whk_543210zyxwvutsrqponmlkjihgfedcba", "whk_abcdefghijklmnopqrstuvwxyz012345"].map(
    secretsOf,
  );
  if (!other || !own) throw new Error("two keys have two pairs");
  return { key: publicKeyOf(own.seed), headers: signatureHeaders([other, own], id, now, sampleBody) };
}

/** By the headings above them; each with the first code of all before it. */
function examplesOf(readme: string): Map<string, string> {
  const blocks = readme.split("```");
  const code = blocks.flatMap((block, n) =>
    block.startsWith("js\n")
      ? [{ title: (blocks[n - 1] ?? "").split("\n## ").at(-1)?.split("\n")[0], text: block.slice(3) }]
      : [],
  );
  const [first, ...rest] = code;
  return new Map(rest.map(({ title = "", text }) => [title, `${first?.text}${text}`]));
}

function started(path: string, cwd: string, env: Record<string, string>) {
  const child: ChildProcess = spawn(process.execPath, [path], { cwd, env });
  endWithThisProcess(child);
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return {
    printed: () => text,
    end: () =>
      new Promise<void>((resolve) => {
        child.once("exit", () => resolve());
        child.kill();
      }),
  };
}

async function listening(server: Server): Promise<{ port: number; close: () => Promise<void> }> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Passes connections on, and breaks each one after `bytes` of its answer. */
async function breakingProxy(port: number, bytes: number) {
  let broken = 0;
  const server = createServer((socket) => {
    const onwards = connect(port, "127.0.0.1");
    let left = bytes;
    socket.pipe(onwards);
    onwards.on("data", (chunk: Buffer) => {
      socket.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left > 0) return;
      broken += 1;
      socket.destroySoon();
      onwards.destroy();
    });
    for (const end of [socket, onwards]) end.on("error", () => undefined);
    socket.on("close", () => onwards.destroy());
    onwards.on("close", () => socket.destroy());
  });
  return { ...(await listening(server)), broken: () => broken };
}
