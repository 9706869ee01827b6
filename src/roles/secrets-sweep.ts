// The singleton job of the projector role that deletes expired secrets (sessions, tokens, idempotent answers, uses of
// keys), so that they get into no backup; reads ignore them already. Its first run encrypts secrets that are under
// SECRET_KEY_PREVIOUS.
import type { RoleContext } from "./role-context.ts";
import { startSingletonJob } from "./singleton-job.ts";

export function openSecretsSweep(context: RoleContext): void {
  const { log, clock, backend } = context;
  let isReencrypted = false;
  startSingletonJob(context, {
    name: "secrets-sweep",
    intervalMs: 60_000,
    async run(signal) {
      if (!isReencrypted) {
        const renewed = await backend.secrets.reencrypt(clock(), signal);
        if (renewed > 0) log.info({ secrets: renewed }, "encrypted secrets under the present SECRET_KEY");
        isReencrypted = !signal.aborted;
      }
      await backend.secrets.sweep(clock());
    },
    failureMessage: "destroying expired secrets failed",
  });
}
