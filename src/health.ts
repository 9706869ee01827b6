// Whether this process should get traffic, and if not, which part of it is the reason.
import type { EventStore } from "./event-store/port.ts";
import type { ProjectionStatus } from "./projections/status.ts";
import type { ReadStore } from "./read-store/port.ts";
import type { RecorderStats } from "./redirect/click-recorder.ts";

export type Readiness = { ready: boolean; reasons: { part: string; reason: string }[] };

export type HealthDeps = {
  eventStore: Pick<EventStore, "head">;
  readStore: Pick<ReadStore, "checkpoints">;
  projections: () => Promise<ProjectionStatus[]>;
  recorder: () => RecorderStats;
};

const ANSWER_WITHIN_MS = 1000;
const LONGEST_LAG_MS = 60_000;
const MOST_CLICKS_WAITING = 100_000;

/** Asks every part, each for a second at most; answers all that is wrong, not only the first. */
export async function readiness(deps: HealthDeps): Promise<Readiness> {
  const stores = await Promise.all([
    problemOf("event store", deps.eventStore.head()),
    problemOf("read store", deps.readStore.checkpoints()),
  ]);
  const projector = await projectorProblems(deps.projections);
  const { backlog } = deps.recorder();
  const recorder =
    backlog > MOST_CLICKS_WAITING
      ? [{ part: "click recorder", reason: `${backlog} clicks wait for the event store` }]
      : [];
  const reasons = [...stores.flat(), ...projector, ...recorder];
  return { ready: reasons.length === 0, reasons };
}

async function projectorProblems(projections: HealthDeps["projections"]): Promise<Readiness["reasons"]> {
  const found = await Promise.race([projections().catch(() => undefined), late()]);
  if (!found) return [{ part: "projector", reason: "does not answer" }];
  if (found.length === 0) return [{ part: "projector", reason: "has not started yet" }];
  return found.flatMap(({ name, fault, lagMs }) => {
    if (fault) return [{ part: `projection ${name}`, reason: `faulted at ${fault.type} ${fault.position}` }];
    if (lagMs > LONGEST_LAG_MS) return [{ part: `projection ${name}`, reason: `${lagMs} ms behind` }];
    return [];
  });
}

async function problemOf(part: string, asked: Promise<unknown>): Promise<Readiness["reasons"]> {
  const outcome = await Promise.race([asked.then(() => "answers").catch(() => "is away"), late()]);
  return outcome === "answers" ? [] : [{ part, reason: outcome ?? "does not answer" }];
}

function late(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ANSWER_WITHIN_MS, undefined).unref());
}
