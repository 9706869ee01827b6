// linkledger log adopt: a log that is meant to go with documents, deliveries and secrets that remember another one, or none.
import type { CommandRow } from "./command.ts";
import { onStoresWithLog } from "./session.ts";

export const commands: readonly CommandRow[] = [
  {
    name: "adopt <log-id>",
    about: "have documents, deliveries and secrets remember this log, whichever they belonged to",
    args: { "log-id": "as the refusal named it" },
    by: onStoresWithLog,
    async run({ backend }, _, logNamed: string) {
      const { logId } = await backend.begun.required();
      return { log_id: logId, adopted: logId === logNamed };
    },
  },
];
