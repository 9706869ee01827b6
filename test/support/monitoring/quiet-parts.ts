// The parts of a process with nothing wrong, for tests that give it one problem.
import type { ObservedParts } from "../../../src/service/monitoring/observe.ts";
import { ALL_ROLES } from "../../../src/service/roles/role.ts";
import type { SetAside } from "../../../src/stores/coordination/set-aside.ts";
import type { ReadStore } from "../../../src/stores/read-store/port.ts";

export function quietParts(
  more: Partial<ObservedParts> = {},
  setAside: SetAside = { count: 0, events: [] },
): ObservedParts {
  return {
    roles: ALL_ROLES,
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
    redis: undefined,
    provider: undefined,
    counts: {},
    projections: async () => [],
    eventsBehind: async () => 0,
    recorder: undefined,
    logProblems: () => ({}),
    wasLogRead: () => true,
    leaseProblems: new Map(),
    failures: new Map(),
    webhooks: undefined,
    dataDir: ".",
    sealKeys: [],
    verification: undefined,
    clock: () => new Date(),
    ...more,
  };
}
