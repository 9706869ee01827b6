// Keeps the time zone in which an account reads its numbers in the portal.

import { isTimeZone, noTimeZone } from "../../runtime/moment.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import { changeTimeZoneTo } from "./account.ts";
import { changeAccount } from "./account-stream.ts";

/** `name`: one that Intl knows, or empty for that of each browser. @throws invalid_time_zone, account_not_found, history_full */
export async function changeTimeZone(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  name: string,
): Promise<Appended> {
  if (name !== "" && !isTimeZone(name)) throw new Refused("invalid_time_zone", noTimeZone(name));
  return await changeAccount(deps, context, accountId, (account, at) =>
    changeTimeZoneTo(account, { timeZone: name || null, at }),
  );
}
