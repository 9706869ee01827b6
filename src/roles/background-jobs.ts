// The singleton jobs of the projector role.
import { openAccountClosing } from "./account-closing.ts";
import { openDomainChecks } from "./domain-checks.ts";
import type { RoleContext } from "./role-context.ts";
import { openSecretsSweep } from "./secrets-sweep.ts";
import { openUrlRechecks } from "./url-rechecks.ts";
import type { Writing } from "./writing.ts";

export function openBackgroundJobs(context: RoleContext, writing: Writing): void {
  openDomainChecks(context);
  openSecretsSweep(context);
  openAccountClosing(context);
  openUrlRechecks(context, writing);
}
