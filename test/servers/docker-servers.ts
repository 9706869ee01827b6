// The servers whose variable is unset, as containers, on a machine with Docker: the versions of docker-compose.yml.
import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from "testcontainers";

type DockerServer = {
  variable: "EVENTSTORE_URL" | "MONGODB_URL" | "REDIS_URL";
  port: number;
  container: () => GenericContainer;
  url: (address: string) => string;
};

const START_TIMEOUT_MS = 180_000;

const SERVERS: readonly DockerServer[] = [
  {
    variable: "EVENTSTORE_URL",
    port: 2113,
    container: () =>
      new GenericContainer("kurrentplatform/kurrentdb:26.0")
        .withEnvironment({
          KURRENTDB_CLUSTER_SIZE: "1",
          KURRENTDB_INSECURE: "true",
          KURRENTDB_RUN_PROJECTIONS: "None",
          KURRENTDB_NODE_IP: "0.0.0.0",
        })
        .withWaitStrategy(Wait.forHttp("/health/live", 2113).forStatusCode(204)),
    url: (address) => `esdb://${address}?tls=false`,
  },
  {
    variable: "MONGODB_URL",
    port: 27_017,
    container: () =>
      new GenericContainer("mongo:8.0").withWaitStrategy(Wait.forLogMessage(/Waiting for connections/)),
    url: (address) => `mongodb://${address}/`,
  },
  {
    variable: "REDIS_URL",
    port: 6379,
    container: () =>
      new GenericContainer("redis:7.4").withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/)),
    url: (address) => `redis://${address}`,
  },
];

export type DockerServers = {
  /** Variables for the servers that were started. */
  environment: Record<string, string>;
  stop(): Promise<void>;
};

/** None without Docker, and none for a variable that is set. @throws when a container doesn't start */
export async function startDockerServers(
  given: Readonly<Record<string, string | undefined>>,
  say: (line: string) => void,
): Promise<DockerServers> {
  const missing = SERVERS.filter(({ variable }) => !given[variable]);
  const started: StartedTestContainer[] = [];
  const environment: Record<string, string> = {};
  const stop = async () => {
    await Promise.all(started.map((container) => container.stop()));
  };
  if (missing.length === 0 || !(await hasDocker())) return { environment, stop };
  try {
    for (const { variable, port, container, url } of missing) {
      const running = await container().withExposedPorts(port).withStartupTimeout(START_TIMEOUT_MS).start();
      started.push(running);
      environment[variable] = url(`${running.getHost()}:${running.getMappedPort(port)}`);
      say(`${variable}=${environment[variable]} (a container of this run)`);
    }
    return { environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function hasDocker(): Promise<boolean> {
  return await getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
}
