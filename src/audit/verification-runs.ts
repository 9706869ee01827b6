// Verifications of the log that the operator starts: one at a time, with their progress where every process sees it.
import type { CommandContext } from "../commands/caller.ts";
import { type RecordDeps, recordActions } from "../commands/record-actions.ts";
import { Refused } from "../commands/refusals.ts";
import { messageOf } from "../runtime/errors.ts";
import type { BasicLogger } from "../runtime/logging.ts";
import type { Document, ReadStore } from "../stores/read-store/port.ts";
import type { NotedSeal } from "./seals/noted-seal.ts";
import type { KnownSeal } from "./seals/seal.ts";
import type { Judgement } from "./verdict.ts";
import type { LogVerification, Problem } from "./verify-log.ts";

/** The one in progress, or the last one. */
export type VerificationRun = {
  state: "running" | "done" | "failed" | "interrupted";
  started_at: string;
  /** ISO 8601 UTC, renewed while it runs. */
  updated_at: string;
  /** Checked so far. */
  events: number;
  result: (Judgement & { problem_count: number; problems: Problem[]; anchor: string | null }) | null;
  error: string | null;
};

/** Yields the number of events so far. `noted`: the newest seal, as kept outside of the log. */
export type VerifyInThread = (
  options: { noted: KnownSeal | undefined },
  signal: AbortSignal,
) => AsyncGenerator<number, LogVerification>;

type Deps = RecordDeps & {
  /** Beside the documents of projections. */
  readStore: Pick<ReadStore, "get" | "write">;
  noted: Pick<NotedSeal, "get">;
  verify: VerifyInThread;
  log: Pick<BasicLogger, "warn">;
};

type StoredRun = Document & { run: VerificationRun };

const COLLECTION = "log-verifications";
const ID = "last";
const RENEW_MS = 1_000;
/** A run that was not renewed for so long has ended with its process. */
const INTERRUPTED_AFTER_MS = 30_000;

export type VerificationRuns = ReturnType<typeof verificationRuns>;

export function verificationRuns(deps: Deps) {
  const stopping = new AbortController();
  let current: Promise<void> = Promise.resolve();

  const write = async (run: VerificationRun) => {
    const stored = await deps.readStore.get<StoredRun>(COLLECTION, ID);
    const revision = String(Number(stored?._position ?? "0") + 1).padStart(20, "0");
    const documents: StoredRun[] = [{ _id: ID, _position: revision, run }];
    await deps.readStore.write({ documents: [{ collection: COLLECTION, documents }] });
  };
  const read = async (): Promise<VerificationRun | undefined> => {
    const run = (await deps.readStore.get<StoredRun>(COLLECTION, ID))?.run;
    if (run?.state !== "running") return run;
    // Also from a later time: the clock has been set back since, and a run that goes on is soon renewed.
    const age = Math.abs(deps.clock().getTime() - Date.parse(run.updated_at));
    return age < INTERRUPTED_AFTER_MS ? run : { ...run, state: "interrupted" };
  };

  async function perform(context: CommandContext, started: VerificationRun): Promise<void> {
    const steps = deps.verify({ noted: await deps.noted.get() }, stopping.signal);
    let writtenAt = performance.now();
    for (;;) {
      const { done, value } = await steps.next();
      if (stopping.signal.aborted) return;
      if (done) return await finish(context, started, value);
      if (performance.now() - writtenAt < RENEW_MS) continue;
      writtenAt = performance.now();
      await write({ ...started, updated_at: deps.clock().toISOString(), events: value });
    }
  }

  async function finish(context: CommandContext, started: VerificationRun, verification: LogVerification) {
    const { ok, verdict, sentence, events, problemCount, problems, anchor } = verification;
    const data = { verdict, events, problems: problemCount, anchor: anchor ?? "" };
    await recordActions(deps, context, [{ type: "LogVerified", data }]);
    const result = { ok, verdict, sentence, problem_count: problemCount, problems, anchor };
    await write({ ...started, state: "done", updated_at: deps.clock().toISOString(), events, result });
  }

  return {
    /** The one in progress, or the last one; undefined before the first. */
    read,

    /** Returns when it has begun. @throws verification_in_progress, StoreUnavailable */
    async start(context: CommandContext): Promise<VerificationRun> {
      if ((await read())?.state === "running")
        throw new Refused("verification_in_progress", "The log is being verified: wait until that has ended");
      const at = deps.clock().toISOString();
      const run: VerificationRun = {
        state: "running",
        started_at: at,
        updated_at: at,
        events: 0,
        result: null,
        error: null,
      };
      await write(run);
      current = perform(context, run).catch(async (err: unknown) => {
        deps.log.warn({ err }, "the log could not be verified");
        await write({ ...run, state: "failed", error: messageOf(err) }).catch(() => undefined);
      });
      return run;
    },

    /** Ends the run of this process. */
    async close(): Promise<void> {
      stopping.abort();
      await current;
    },
  };
}
