// The roles that answer no request: a thread that works while it holds the leases; without it, what the stores know of the work.
import { notedSeal } from "../../audit/seals/noted-seal.ts";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { type GroupStatus, groupStatus } from "../../projections/builds/status.ts";
import { projectionGroups } from "../../projections/groups.ts";
import type { WebhooksStatus } from "../../webhooks/run-webhooks.ts";
import { refuseOtherLog } from "../stores/same-log.ts";
import { type Background, startBackground } from "../threads/background.ts";
import { BACKGROUND_ROLES } from "./role.ts";
import type { RoleContext } from "./role-context.ts";

export type BackgroundStatus = Pick<Background, "roleProblems"> & {
  /** The status of each group, whichever process runs it. */
  projections(): Promise<GroupStatus[]>;
  /** Undefined without the webhooks role. */
  webhooks: (() => Promise<WebhooksStatus | undefined>) | undefined;
};

export function openBackground(context: RoleContext): BackgroundStatus {
  const { config, log, roles, onStop, onLastAppend } = context;
  const stored = storedStatus(context);
  const own = [...roles].filter((role) => BACKGROUND_ROLES.has(role));
  // Of processes that stop at once the last one seals what all have appended; of several workers their own last one.
  const isLastOfOwn = !context.group || own.length > 0;
  if (config.eventStoreUrl !== undefined && isLastOfOwn) onLastAppend(() => sealTheRest(context));
  if (own.length === 0) return { projections: stored, webhooks: undefined, roleProblems: () => [] };
  const background = startBackground({ config, roles: own }, log);
  onStop((withinMs) => background.stopAppending(withinMs));
  onLastAppend((withinMs) => background.close(withinMs));
  let last: GroupStatus[] = [];
  /** While the thread does not answer, that of the stores, which knows no counts of this process. */
  const projections = async () => {
    const reported = await background.projections();
    if (reported) {
      last = reported;
      return reported;
    }
    const processed = new Map(last.map((status) => [status.name, status.processed]));
    return (await stored()).map((status) => ({ ...status, processed: processed.get(status.name) ?? 0 }));
  };
  return {
    projections: roles.has("projector") ? projections : stored,
    webhooks: roles.has("webhooks") ? background.webhooks : undefined,
    roleProblems: background.roleProblems,
  };
}

/** Whoever has the lease for sealing may have stopped before. */
async function sealTheRest({ config, log, clock, backend }: RoleContext): Promise<void> {
  const { eventStore, foldStore, deliveryQueue } = backend;
  try {
    await refuseOtherLog({ ...backend, deliveryQueue: async () => deliveryQueue }, config);
    const { sealAll } = await import("../../audit/seals/sealer.ts");
    const { sealKeysFrom } = await import("../../audit/seals/seal-keys.ts");
    const { newId } = runtimeDeps;
    await sealAll({ eventStore, keys: sealKeysFrom(config), noted: notedSeal(foldStore), clock, newId });
  } catch (err) {
    log.warn({ err }, "the end of the log is not sealed");
  }
}

/** From the committed checkpoints. */
function storedStatus({ backend }: RoleContext): BackgroundStatus["projections"] {
  const { eventStore, foldStore } = backend;
  const deps = { eventStore, readStore: foldStore, clock: runtimeDeps.clock };
  const statuses = projectionGroups.map((group) => groupStatus(deps, group));
  return () => Promise.all(statuses.map((status) => status()));
}
