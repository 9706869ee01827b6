// Destroys expired secrets (sessions, tokens, idempotent answers, uses of keys), and once encrypts those that an earlier
// version or SECRET_KEY left: part of the projector role, done by one process at a time. Expired secrets read as absent
// at once; this is so that they are not kept, nor backed up.

import type { RoleContext } from "./role-context.ts";
import { startSingletonJob } from "./singleton-job.ts";

export function openSecretsSweep(context: RoleContext): void {
  const { log, clock, backend } = context;
  let isReencrypted = false;
  startSingletonJob(context, {
    name: "secrets-sweep",
    intervalMs: 60_000,
    async turn(signal) {
      if (!isReencrypted) {
        const renewed = await backend.secrets.reencrypt(clock(), signal);
        if (renewed > 0) log.info({ secrets: renewed }, "encrypted secrets under the present SECRET_KEY");
        isReencrypted = !signal.aborted;
      }
      await backend.secrets.sweep(clock());
    },
    failed: "destroying expired secrets failed",
  });
}
