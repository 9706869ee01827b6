// The environment of the programs that tests start: nothing of the tester's own but what they need to run.
import { afterEach, expect, it, vi } from "vitest";
import { childEnvironment } from "../../support/service/child-environment.ts";

afterEach(() => void vi.unstubAllEnvs());

it("trusts the authorities that the tester's own process trusts, as servers over TLS may need", () => {
  vi.stubEnv("NODE_EXTRA_CA_CERTS", "/certificates/ca.crt");
  vi.stubEnv("ADMIN_TOKEN", "of the tester");
  const environment = childEnvironment({ LOG_LEVEL: "warn" });
  expect(environment).toMatchObject({ NODE_EXTRA_CA_CERTS: "/certificates/ca.crt", LOG_LEVEL: "warn" });
  expect(environment).not.toHaveProperty("ADMIN_TOKEN");
});
