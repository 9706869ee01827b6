// linkledger key issue | list | deactivate
import { deactivateKey, issueKey } from "../../commands/account/keys.ts";
import { findKey, keyRow, lastUseOf, listKeys } from "../../queries/accounts.ts";
import { Refused } from "../../runtime/refused.ts";
import { type CommandRow, option } from "../command.ts";
import { runQuery } from "../session.ts";

export const commands: readonly CommandRow[] = [
  {
    name: "issue",
    about: "issue an API key, which is shown this once only",
    byAccount: true,
    options: [option("--label <label>", "to tell keys apart")],
    async run({ deps, context }, { account, label }: { account: string; label?: string }) {
      const { keyId, key } = await issueKey(deps, context, account, { label });
      return { key_id: keyId, key };
    },
  },
  {
    name: "list",
    about: "the keys of an account, deactivated ones too",
    byAccount: true,
    by: runQuery,
    async run({ deps }, { account }: { account: string }) {
      const rows = (await listKeys(deps, account)).map(async (key) => ({
        ...keyRow(key),
        last_used_at: (await lastUseOf(deps, key._id)) ?? null,
      }));
      return { keys: await Promise.all(rows) };
    },
  },
  {
    name: "deactivate <key>",
    about: "deactivate a key for good",
    args: { key: "id" },
    async run({ deps, context }, _: object, keyId: string) {
      const found = await findKey(deps, keyId);
      if (!found) throw new Refused("key_not_found");
      await deactivateKey(deps, context, found.accountId, keyId);
      return { key_id: keyId, status: "deactivated" };
    },
  },
];
