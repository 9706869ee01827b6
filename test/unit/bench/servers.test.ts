// The servers that a benchmark runs on.
import { expect, it, onTestFinished } from "vitest";
import { benchServers } from "../../../bench/setup/servers.ts";

it("has the service read a double's events as they are, without a prefix of stream names", async () => {
  const servers = await benchServers(true);
  onTestFinished(servers.stop);
  expect(servers.environment).toHaveProperty("EVENTSTORE_URL", servers.log?.url);
  expect(servers.environment).not.toHaveProperty("EVENTSTORE_PREFIX");
});
