// linkledger secrets rotate: re-encrypts the secrets, the last step of changing SECRET_KEY (docs/operations.md).
import type { Command } from "commander";
import { type Json, runWithoutCatchUp } from "./session.ts";

export function secretsCommands(program: Command): void {
  const secrets = program.command("secrets").description("what is kept beside the log, encrypted");

  secrets
    .command("rotate")
    .description("encrypt everything under SECRET_KEY that is under SECRET_KEY_PREVIOUS")
    .option("--json", "print one JSON document")
    .action((options: Json) =>
      runWithoutCatchUp(options, async ({ backend, deps }) => ({
        reencrypted: await backend.secrets.reencrypt(deps.clock()),
      })),
    );
}
