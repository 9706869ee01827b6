// What the operator does with withdrawals in the console, from a form or as JSON: parsed, then the use case.

import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { namedLink } from "../../../commands/withdrawals/named-link.ts";
import {
  listWithdrawals,
  previewWithdrawal,
  restoreClicks,
  type WithdrawDeps,
  withdrawClicks,
} from "../../../commands/withdrawals/withdraw-clicks.ts";
import type { WithdrawalRequest } from "../../../commands/withdrawals/withdrawal-request.ts";
import { type ConsoleDeps, operatorContext } from "../guard.ts";
import { WithdrawalQuestion } from "../questions.ts";

export type WithdrawalQuery = z.infer<typeof WithdrawalQuestion>;

const link = z.string().min(1).max(500);
export const WithdrawalForm = WithdrawalQuestion.extend({ link, reason: z.string().max(1_000).default("") });
export const RestoreForm = z.object({ link, withdrawal_id: z.uuid() });

/** @throws InvalidLink, LinkNotFound */
export async function withdrawalsFor(deps: ConsoleDeps, text: string) {
  return await listWithdrawals(deps, namedLink(text, deps.baseHost));
}

/** Undefined as long as it is not said from when. @throws as previewWithdrawal */
export async function previewFor(deps: ConsoleDeps, query: WithdrawalQuery) {
  const request = requestOf(query);
  if (!request || query.link === undefined) return undefined;
  return await previewWithdrawal(finding(deps), namedLink(query.link, deps.baseHost), request);
}

/** @throws as withdrawClicks */
export async function withdrawFor(
  deps: ConsoleDeps,
  request: FastifyRequest,
  form: z.infer<typeof WithdrawalForm>,
) {
  const wanted = requestOf(form) ?? { from: new Date(0) };
  const address = namedLink(form.link, deps.baseHost);
  return await withdrawClicks(finding(deps), operatorContext(request), address, {
    ...wanted,
    reason: form.reason,
  });
}

/** @throws as restoreClicks */
export async function restoreFor(
  deps: ConsoleDeps,
  request: FastifyRequest,
  form: z.infer<typeof RestoreForm>,
) {
  const address = namedLink(form.link, deps.baseHost);
  return await restoreClicks(deps, operatorContext(request), address, form.withdrawal_id);
}

function requestOf({ from, to, visitor, ip_prefix: ipPrefix, user_agent: userAgent }: WithdrawalQuery) {
  if (from === undefined) return undefined;
  const times = { from: new Date(from), to: to === undefined ? undefined : new Date(to) };
  return { ...times, visitor, ipPrefix, userAgent } satisfies WithdrawalRequest;
}

function finding(deps: ConsoleDeps): WithdrawDeps {
  return { ...deps, matchingClicks: deps.logReader.matchingClicks };
}
