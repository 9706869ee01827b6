// The list of codes at /docs/error-codes has each that the API refuses with, under the status that it answers.
import { expect, it } from "vitest";
import { ERROR_CAUSES } from "../../../src/api/openapi/error-causes.ts";
import { REFUSALS } from "../../../src/commands/refusals.ts";

const refusals: Readonly<Record<string, { status?: number; exit?: number; message?: string }>> = REFUSALS;
const listed = Object.entries(ERROR_CAUSES).flatMap(([status, causes]) =>
  Object.keys(causes).map((code) => [code, Number(status)] as const),
);

/** What only forms, the console and commands refuse with. Whoever adds a code decides which of the two lists has it. */
const OF_PAGES = [
  "account_exists",
  "already_restored",
  "domain_not_found",
  "domain_not_proven",
  "domain_not_verified",
  "domain_taken",
  "email_taken",
  "form_refused",
  "invalid_admin_token",
  "invalid_hostname",
  "invalid_key",
  "invalid_reason",
  "invalid_webhook",
  "invalid_withdrawal",
  "key_exists",
  "key_limit_reached",
  "key_not_active",
  "key_not_found",
  "last_way_to_sign_in",
  "not_a_member",
  "no_previous_build",
  "nothing_else_answers",
  "nothing_to_withdraw",
  "other_address",
  "passkey_not_found",
  "passkey_refused",
  "password_refused",
  "person_exists",
  "person_not_found",
  "provider_refused",
  "provider_unavailable",
  "rotation_under_way",
  "sign_in_again",
  "sign_in_off",
  "sign_up_closed",
  "token_expired",
  "try_again",
  "unknown_projection",
  "verification_in_progress",
  "webhook_held",
  "webhook_limit_reached",
  "weekly_mail_not_found",
  "withdrawal_not_found",
  "withdrawals_changed",
  "wrong_credentials",
  "wrong_current_password",
  "wrong_format",
];

it("has every code that is answered with a status, wherever it is refused, but for those of pages and commands", () => {
  const answered = Object.keys(refusals).filter((code) => refusals[code]?.status !== undefined);
  const missing = answered.filter((code) => !listed.some(([known]) => known === code));
  expect(missing.sort()).toEqual(OF_PAGES.toSorted());
});

it("lists each under the status that it is answered with, once", () => {
  expect(new Set(listed.map(([code]) => code)).size).toBe(listed.length);
  for (const [code, status] of listed)
    if (Object.hasOwn(refusals, code)) expect([code, refusals[code]?.status ?? 500]).toEqual([code, status]);
});
