// Destroys expired secrets (sessions, tokens, idempotent answers, uses of keys): part of the projector role, done by one
// process at a time. Expired ones read as absent at once; this is so that they are not kept, nor backed up.
import { openLoneWork } from "./lone-work.ts";
import type { Opening } from "./opening.ts";

export function openSecretsSweep(opening: Opening): void {
  const { clock, backend } = opening;
  openLoneWork(opening, {
    name: "secrets-sweep",
    everyMs: 60_000,
    turn: () => backend.secrets.sweep(clock()),
    failed: "destroying expired secrets failed",
  });
}
