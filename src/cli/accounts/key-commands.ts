// linkledger key issue | list | deactivate
import { deactivateKey, issueKey } from "../../commands/account/keys.ts";
import { keyRow } from "../../queries/account-rows.ts";
import { findKey, lastUseOf, listKeys } from "../../queries/accounts.ts";
import { Refused } from "../../runtime/refused.ts";
import { type CommandRow, option, required } from "../command.ts";
import { ACCOUNT, accountNamed } from "../named.ts";
import { runQuery } from "../session.ts";

const ofAccount = required("--account <account>", ACCOUNT);

export const keyCommands: readonly CommandRow[] = [
  {
    name: "issue",
    about: "issue an API key, which is shown this once only",
    options: [ofAccount, option("--label <label>", "to tell keys apart")],
    async run(session, { account, label }: { account: string; label?: string }) {
      const { deps, context } = session;
      const issued = await issueKey(deps, context, await accountNamed(session, account), { label });
      return { key_id: issued.keyId, key: issued.key };
    },
  },
  {
    name: "list",
    about: "the keys of an account, deactivated ones too",
    options: [ofAccount],
    by: runQuery,
    async run(session, { account }: { account: string }) {
      const { deps } = session;
      const keys = await listKeys(deps, await accountNamed(session, account));
      const rows = keys.map(async (key) => ({
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
    print: ({ key_id }: { key_id: string }) => `Key ${key_id} is deactivated`,
  },
];
