// linkledger key issue | list | rotate | deactivate
import {
  DEFAULT_OVERLAP_HOURS,
  deactivateKey,
  issueKey,
  MOST_OVERLAP_HOURS,
  rotateKey,
} from "../../commands/account/change-keys.ts";
import { Refused } from "../../commands/refusals.ts";
import { KEY_SCOPES } from "../../events/vocabulary.ts";
import type { KeyDocument } from "../../projections/definitions/keys.ts";
import { findKey, keyRow, lastUseOf, listKeys } from "../../queries/accounts.ts";
import { type CommandRow, option, timeArgument, wholeFrom } from "../command.ts";
import type { Named } from "../named.ts";
import { asQuery } from "../session.ts";

type NewKey = { account: string; label?: string; scopes?: string[]; expiresAt?: Date; networks?: string[] };

const list = (text: string) => text.split(",").map((part) => part.trim());

/** @throws key_not_found */
const KEY: Named = {
  about: "id",
  async find({ deps }, keyId): Promise<KeyDocument> {
    const key = await findKey(deps, keyId);
    if (!key) throw new Refused("key_not_found");
    return key;
  },
};

export const commands: readonly CommandRow[] = [
  {
    name: "issue",
    about: "issue an API key, which is shown this once only",
    byAccount: true,
    options: [
      option("--label <label>", "to tell keys apart"),
      option(
        "--scopes <scopes>",
        `what it may do: ${KEY_SCOPES.join(",")}; by default all but members`,
        list,
      ),
      option("--expires-at <time>", "from then on it is refused; by default never", timeArgument),
      option("--networks <networks>", "addresses or CIDRs that it may be used from, with commas", list),
    ],
    async run({ deps, context }, { account, ...request }: NewKey) {
      const { keyId, key } = await issueKey(deps, context, account, request);
      return { key_id: keyId, key };
    },
  },
  {
    name: "list",
    about: "the keys of an account, deactivated ones too",
    byAccount: true,
    by: asQuery,
    async run({ deps }, { account }: { account: string }) {
      const rows = (await listKeys(deps, account)).map(async (key) => ({
        ...keyRow(key, deps.clock()),
        last_used_at: (await lastUseOf(deps, key._id)) ?? null,
      }));
      return { keys: await Promise.all(rows) };
    },
  },
  {
    name: "rotate <key>",
    about: "give a key a new text, shown this once; the old one is accepted for a while more",
    args: { key: KEY },
    options: [
      option(
        "--overlap-hours <hours>",
        `how long earlier texts are accepted at most, 0 for no longer; up to ${MOST_OVERLAP_HOURS}; by default ${DEFAULT_OVERLAP_HOURS}`,
        wholeFrom(0),
      ),
    ],
    async run(
      { deps, context },
      { overlapHours }: { overlapHours?: number },
      { _id, accountId }: KeyDocument,
    ) {
      const { key, earlier } = await rotateKey(deps, context, accountId, _id, { overlapHours });
      return { key_id: _id, key, earlier };
    },
  },
  {
    name: "deactivate <key>",
    about: "deactivate a key for good",
    args: { key: KEY },
    async run({ deps, context }, _: object, { _id, accountId }: KeyDocument) {
      await deactivateKey(deps, context, accountId, _id);
      return { key_id: _id, status: "deactivated" };
    },
  },
];
