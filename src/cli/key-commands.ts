// linkledger key issue | list | deactivate
import type { Command } from "commander";
import { KeyNotFound } from "../commands/account/account-errors.ts";
import { deactivateKey } from "../commands/keys/deactivate-key.ts";
import { issueKey } from "../commands/keys/issue-key.ts";
import { keyRow } from "../queries/account-rows.ts";
import { findKey, lastUseOf, listKeys, showAccount } from "../queries/accounts.ts";
import { type Json, runCommand, runQuery } from "./session.ts";

export function keyCommands(program: Command): void {
  const key = program.command("key").description("API keys");

  key
    .command("issue")
    .description("issue an API key, which is shown this once only")
    .requiredOption("--account <account-id>")
    .option("--label <label>", "to tell keys apart")
    .option("--json", "print one JSON document")
    .action((options: Json & { account: string; label?: string }) =>
      runCommand(options, async ({ deps, context }) => {
        const issued = await issueKey(deps, context, options.account, { label: options.label });
        return { key_id: issued.keyId, key: issued.key };
      }),
    );

  key
    .command("list")
    .description("the keys of an account, deactivated ones too")
    .requiredOption("--account <account-id>")
    .option("--json", "print one JSON document")
    .action((options: Json & { account: string }) =>
      runQuery(options, async ({ deps }) => {
        await showAccount(deps, options.account);
        const keys = await listKeys(deps, options.account);
        const rows = keys.map(async (key) => ({
          ...keyRow(key),
          last_used_at: (await lastUseOf(deps, key._id)) ?? null,
        }));
        return { keys: await Promise.all(rows) };
      }),
    );

  key
    .command("deactivate")
    .description("deactivate a key for good")
    .argument("<key-id>")
    .option("--json", "print one JSON document")
    .action((keyId: string, options: Json) =>
      runCommand(options, async ({ deps, context }) => {
        const found = await findKey(deps, keyId);
        if (!found) throw new KeyNotFound();
        await deactivateKey(deps, context, found.accountId, keyId);
        return { key_id: keyId, status: "deactivated" };
      }),
    );
}
