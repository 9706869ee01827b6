// Decider and use cases of the colours of an account's tags. That links have the tags is not asked: a colour is for people.
import type { AccountEvent } from "../../events/catalogue.ts";
import { STREAM_LIMITS, type TagColour } from "../../events/vocabulary.ts";
import { Refused } from "../refusals.ts";
import { type AccountState, opened, withRoom } from "./account.ts";
import { accountCommand, type CurrentAccount } from "./account-stream.ts";

type Colouring = { tag: string; colour: TagColour | null; at: string };

/** The colour that it has already changes nothing. @throws account_not_found, history_full */
export function colour(account: AccountState, { tag, colour: wanted, at }: Colouring): AccountEvent[] {
  const { accountId, tagColours } = withRoom(account);
  if ((tagColours.get(tag) ?? null) === wanted) return [];
  if (wanted !== null && !tagColours.has(tag) && tagColours.size >= STREAM_LIMITS.tagColours)
    throw new Refused(
      "history_full",
      `At most ${STREAM_LIMITS.tagColours} tags have a colour: take one from another tag first`,
    );
  return [{ type: "TagColoured", data: { accountId, tag, colour: wanted, at } }];
}

/** Of a tag that is renamed: the new name gets the colour, unless it has one. @throws account_not_found, history_full */
export function passColour(
  account: AccountState,
  { from, to, at }: { from: string; to: string; at: string },
): AccountEvent[] {
  const { accountId, tagColours } = withRoom(account);
  const passed = tagColours.get(from);
  if (passed === undefined || from === to) return [];
  const uncoloured: AccountEvent = { type: "TagColoured", data: { accountId, tag: from, colour: null, at } };
  if (tagColours.has(to)) return [uncoloured];
  return [uncoloured, { type: "TagColoured", data: { accountId, tag: to, colour: passed, at } }];
}

/** By tag, those that have one, as of now. @throws account_not_found */
export async function coloursOf(
  { currentAccount }: { currentAccount: CurrentAccount },
  accountId: string,
): Promise<ReadonlyMap<string, TagColour>> {
  return opened(await currentAccount(accountId)).tagColours;
}

/** `wanted`: null for none. @throws account_not_found, history_full */
export const colourTag = accountCommand((account, { at }, tag: string, wanted: TagColour | null) =>
  colour(account, { tag, colour: wanted, at }),
);

/** @throws account_not_found, history_full */
export const passTagColour = accountCommand((account, { at }, { from, to }: { from: string; to: string }) =>
  passColour(account, { from, to, at }),
);
