// The parts of a process with nothing wrong, for tests that give it one problem.
import type { ObservedParts, ProcessState } from "../../../src/service/monitoring/observe.ts";
import { ALL_ROLES } from "../../../src/service/roles/role.ts";
import type { SetAside } from "../../../src/stores/coordination/set-aside.ts";
import type { ReadStore } from "../../../src/stores/read-store/port.ts";

/** `ofProcess`: what the test needs otherwise of the state of the process. */
export function quietParts(
  { ofProcess, ...more }: Partial<ObservedParts> & { ofProcess?: Partial<ProcessState> } = {},
  setAside: SetAside = { count: 0, events: [] },
): ObservedParts {
  return {
    processState: () => ({
      roles: ALL_ROLES,
      log: {},
      redisUnavailable: undefined,
      limits: undefined,
      redirects: undefined,
      roleProblems: [],
      provider: undefined,
      ...ofProcess,
    }),
    eventStore: {
      head: async () => "1",
      read: async () => [],
      readAll: async () => ({ events: [], next: "1" }),
    },
    readStore: {
      checkpoints: async () => ({}),
      get: async () => undefined,
      getMany: async () => [],
    } as unknown as ReadStore,
    deliveryQueue: {
      routed: async () => ({ position: "1", eventId: "1", days: [], setAside }),
      streaks: async () => [],
    },
    projections: async () => [],
    eventsBehind: async () => 0,
    recorder: undefined,
    wasLogRead: () => true,
    webhooks: undefined,
    dataDir: ".",
    sealKeys: [],
    verification: undefined,
    clock: () => new Date(),
    ...more,
  };
}
