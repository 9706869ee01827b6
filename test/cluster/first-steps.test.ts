// The first steps on new stores, as the documents give them, in every order that somebody may take them in: embedded as in
// examples/tour.sh, on servers as in docker-compose.yml.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { onOwnServers, ownServers } from "../support/cluster/own-servers.ts";
import { SERVICE_PASSWORD, securedServer } from "../support/event-store/secured-double.ts";
import { PASSWORD, visitor } from "../support/portal/browser-like.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import { freePort } from "../support/servers/free-port.ts";
import { send } from "../support/service/ask.ts";
import {
  type Environment,
  instanceOf,
  runCommand,
  startService,
} from "../support/service/service-process.ts";

type Service = { port: number; environment: Environment };
type Deployment = {
  /** Resolves once it is ready. `roles`: of Compose's processes. */
  start(more?: Environment, roles?: string): Promise<Service>;
  /** Of the command line, on the machine or in the container of a service. */
  command<T>(words: readonly string[], beside: Service): Promise<T>;
};
type Account = { key: string; password_link: string };
type ComposeFile = { services: Record<string, { command?: string[] }> };

const text = (file: string) => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");

/** The first command that a document gives, which makes an account, and its key, as the tour has it. */
function firstCommand(document: string): string[] {
  const [, words = ""] = /linkledger (account create [^\n|)]+)/.exec(text(document)) ?? [];
  return [...new Set([...words.trim().split(" "), "--key"])];
}

/** Of the processes that a Compose file starts, each once. */
function rolesIn(file: string): string[] {
  const { services } = parse(text(file), { merge: true }) as ComposeFile;
  const commands = Object.values(services).map(({ command = [] }) => command);
  return [...new Set(commands.flatMap(([first, , roles]) => (first === "serve" && roles ? [roles] : [])))];
}

const ON_ONE_MACHINE = "examples/tour.sh";
const ON_SERVERS = "docker-compose.yml";

async function embedded(): Promise<Deployment> {
  const folder = await temporaryFolder();
  const base = await instanceOf(join(folder.path, "data"));
  onTestFinished(() => folder.remove());
  return {
    start: (more) => started({ ...base, ...more }),
    command: (words, { environment }) => runCommand(environment, ...words),
  };
}

async function onServers(own: Environment = {}): Promise<Deployment> {
  const [folder, servers] = [await temporaryFolder(), await ownServers()];
  onTestFinished(async () => {
    await servers.stop();
    await folder.remove();
  });
  const base = { BASE_URL: "http://localhost", ...servers.environment, ...own };
  let folders = 0;
  const instance = async (more: Environment = {}) => {
    folders += 1;
    return await instanceOf(join(folder.path, String(folders)), { ...base, ...more });
  };
  return {
    start: async (more, roles) => started(await instance(more), roles),
    command: (words, { environment }) => runCommand(environment, ...words),
  };
}

async function started(environment: Environment, roles?: string): Promise<Service> {
  const port = await freePort();
  const own = { ...environment, PORT: String(port) };
  const service = await startService(own, { serve: roles === undefined ? [] : ["--roles", roles] });
  onTestFinished(() => service.stop("SIGKILL"));
  return { port, environment: own };
}

/** Makes a link by one, visits it by another, and waits until its click is counted. */
async function works(key: string, api: Service, redirect = api): Promise<void> {
  const body = { url: "https://example.com/" };
  const made = await send<{ slug: string }>(api.port, "/api/v1/shorten", { method: "POST", key, body });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  const { slug } = made.body;
  expect((await send(redirect.port, `/${slug}`, {})).status).toBe(301);
  await until(
    "the visit to be counted",
    async () => {
      const path = `/api/v1/analytics/${slug}`;
      const { body: counted } = await send<{ analytics?: { totalClicks: number } }>(api.port, path, { key });
      return counted.analytics?.totalClicks === 1;
    },
    { everyMs: 500 },
  );
}

function firstSteps(document: string, deploy: () => Promise<Deployment>): void {
  const create = firstCommand(document);

  it("the service first, and then the first command", async () => {
    const { start, command } = await deploy();
    const service = await start();
    const { key } = await command<Account>(create, service);
    await works(key, service);
  });

  it("a sign-up in the portal first, and then a command", async () => {
    const { start, command } = await deploy();
    const service = await start();
    const person = visitor(service.port);
    const landed = await person.submit("/portal/sign-up", { email: "me@example.com", password: PASSWORD });
    expect([landed.status, person.cookies.has("linkledger-session")]).toEqual([200, true]);
    const { key } = await command<Account>(create, service);
    await works(key, service);
    const { accounts } = await command<{ accounts: object[] }>(["account", "list"], service);
    expect(accounts).toHaveLength(2);
  });

  it("SIGN_UP=closed: the link of the first command leads to a password, and that into the portal", async () => {
    const { start, command } = await deploy();
    const service = await start({ SIGN_UP: "closed" });
    const { key, password_link } = await command<Account>(create, service);
    await works(key, service);
    const { pathname, search, searchParams } = new URL(password_link);
    const person = visitor(service.port);
    expect((await person.get(pathname + search)).status).toBe(200);
    const token = searchParams.get("token") ?? "";
    await person.submit(pathname + search, { token, password: PASSWORD }, pathname);
    expect((await person.get("/portal/account")).status).toBe(200);
  });
}

describe("embedded", () => {
  firstSteps(ON_ONE_MACHINE, embedded);

  it("two services at once: one has the folder, and the other says so and ends", async () => {
    const { start, command } = await embedded();
    const outcomes = await Promise.allSettled([start(), start()]);
    const [service] = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    const refusals = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(refusals.map(String)).toEqual([
      expect.stringMatching(/the service ended with 1:[\s\S]*process \d+/),
    ]);
    const { key } = await command<Account>(firstCommand(ON_ONE_MACHINE), service as Service);
    await works(key, service as Service);
  });
});

onOwnServers(() =>
  describe("on servers", () => {
    firstSteps(ON_SERVERS, onServers);

    it("two services at once, and then a command in each", async () => {
      const { start, command } = await onServers();
      const [one, other] = await Promise.all([start(), start()]);
      const { key } = await command<Account>(firstCommand(ON_SERVERS), one);
      await works(key, one, other);
      const { accounts } = await command<{ accounts: object[] }>(["account", "list"], other);
      expect(accounts).toHaveLength(1);
    });

    const allAtOnce = async (file: string, { start, command }: Deployment) => {
      const processes = await Promise.all(
        rolesIn(file).map(async (roles) => ({ roles, service: await start({}, roles) })),
      );
      const [api, redirect] = ["api", "redirect"].map(
        (role) => processes.find(({ roles }) => roles.split(",").includes(role))?.service,
      ) as [Service, Service];
      const { key } = await command<Account>(firstCommand(ON_SERVERS), api);
      await works(key, api, redirect);
    };

    it("all processes of docker-compose.yml at once, and then the command in the one with the API", async () =>
      await allAtOnce(ON_SERVERS, await onServers()));

    it("those of docker-compose.cluster.yml, behind the user that it makes on an event store with TLS", async () => {
      const { urlOf, makeUser } = await securedServer();
      await makeUser();
      const EVENTSTORE_URL = urlOf("linkledger", SERVICE_PASSWORD);
      await allAtOnce("docker-compose.cluster.yml", await onServers({ EVENTSTORE_URL }));
    });
  }),
);
