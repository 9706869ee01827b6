// What the operator does with withdrawals in the console, from a form or as JSON: parsed, then the use case.
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { namedLink } from "../../../commands/links/change-link.ts";
import {
  listWithdrawals,
  previewWithdrawal,
  restoreClicks,
  type WithdrawalRequest,
  type WithdrawDeps,
  withdrawClicks,
} from "../../../commands/withdrawals/withdraw-clicks.ts";
import { WithdrawalQuestion } from "../../../queries/audit/questions.ts";
import { type ConsoleDeps, operatorContext } from "../guard.ts";

/** All clicks since the link was made are a choice of the operator's, not what a forgotten field means. */
export const PreviewQuestion = WithdrawalQuestion.required({ link: true, from: true });

const link = z.string().min(1).max(500);
export const WithdrawalForm = PreviewQuestion.extend({ link, reason: z.string().max(1_000).default("") });
export const RestoreForm = z.object({ link, withdrawal_id: z.uuid() });

/** @throws invalid_link, link_not_found */
export async function withdrawalsFor(deps: ConsoleDeps, text: string) {
  return await listWithdrawals(deps, namedLink(text, deps.baseHost));
}

/** @throws as previewWithdrawal */
export async function previewFor(deps: ConsoleDeps, query: z.infer<typeof PreviewQuestion>) {
  return await previewWithdrawal(finding(deps), namedLink(query.link, deps.baseHost), requestOf(query));
}

/** @throws as withdrawClicks */
export async function withdrawFor(
  deps: ConsoleDeps,
  request: FastifyRequest,
  form: z.infer<typeof WithdrawalForm>,
) {
  const address = namedLink(form.link, deps.baseHost);
  const wanted = { ...requestOf(form), reason: form.reason };
  return await withdrawClicks(finding(deps), operatorContext(request), address, wanted);
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

function requestOf(asked: Omit<z.infer<typeof PreviewQuestion>, "link">) {
  const { from, to, visitor, ip_prefix: ipPrefix, user_agent: userAgent } = asked;
  const times = { from: new Date(from), to: to === undefined ? undefined : new Date(to) };
  return { ...times, visitor, ipPrefix, userAgent } satisfies WithdrawalRequest;
}

function finding(deps: ConsoleDeps): WithdrawDeps {
  return { ...deps, matchingClicks: deps.logReader.matchingClicks };
}
