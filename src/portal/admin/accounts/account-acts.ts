// What the operator does with accounts in the console, from a form or as JSON: found, parsed, then the use case.
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { closeAccount } from "../../../commands/account/close-account.ts";
import { deactivateKey } from "../../../commands/account/keys.ts";
import { emailSecret } from "../../../commands/account/secrets.ts";
import { changeTier } from "../../../commands/account/tier.ts";
import { TIERS } from "../../../events/vocabulary.ts";
import { findAccount } from "../../../queries/find-account.ts";
import { isRefused, Refused } from "../../../runtime/refused.ts";
import { type ConsoleDeps, operatorContext } from "../guard.ts";

export const AccountParams = z.object({ accountId: z.string().min(1).max(500) });

/** `confirm`: the account's e-mail address or id, as closing can't be undone. */
export const AccountAct = z.discriminatedUnion("act", [
  z.object({ act: z.literal("tier"), tier: z.enum(TIERS) }),
  z.object({ act: z.literal("deactivate-key"), key_id: z.uuid() }),
  z.object({ act: z.literal("close"), confirm: z.string().trim().max(500) }),
]);
export type AccountAct = z.infer<typeof AccountAct>;

/** The id of the account that a field of the console names, by whatever findAccount takes. @throws not_found */
export async function namedAccount(deps: ConsoleDeps, given: string): Promise<string> {
  try {
    return await findAccount(deps, given);
  } catch (error) {
    if (!isRefused(error, "account_not_found")) throw error;
    throw new Refused("not_found", `No account is found by “${given}”.`);
  }
}

/** A question of the log with its account by id. @throws not_found */
export async function withAccount<Q extends { account?: string | undefined }>(
  deps: ConsoleDeps,
  query: Q,
): Promise<Q> {
  return query.account === undefined ? query : { ...query, account: await namedAccount(deps, query.account) };
}

/** Resolves when pages show what was done. @throws account_not_found, key_not_found, invalid_request */
export async function performAccountAct(
  deps: ConsoleDeps,
  request: FastifyRequest,
  accountId: string,
  asked: AccountAct,
): Promise<void> {
  const { position } = await act(deps, request, accountId, asked);
  await deps.whenReadable(position);
}

async function act(deps: ConsoleDeps, request: FastifyRequest, accountId: string, asked: AccountAct) {
  const context = operatorContext(request);
  switch (asked.act) {
    case "tier":
      return await changeTier(deps, context, accountId, asked.tier);
    case "deactivate-key":
      return await deactivateKey(deps, context, accountId, asked.key_id);
    case "close": {
      const email = await deps.secrets.get(emailSecret(accountId), deps.clock());
      if (asked.confirm !== accountId && asked.confirm !== email)
        throw new Refused(
          "invalid_request",
          "The account stays open: what was typed is neither its e-mail address nor its id",
        );
      return await closeAccount(deps, context, accountId);
    }
  }
}
