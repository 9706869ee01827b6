// How passwords that visitors give are checked, of links and of shared pages: one limit of tries, and cookies by one key.
import { randomBytes } from "node:crypto";
import { secretKeyOf } from "../../config/config.ts";
import { linkPasswordTries } from "../../limits/link-password-tries.ts";
import { type LinkPasses, linkPasses } from "../../redirect/password/link-pass.ts";
import { type PasswordCheck, passwordCheck } from "../../redirect/password/password-check.ts";
import type { RoleContext } from "./role-context.ts";

export function visitorPasswords({
  config,
  clock,
  backend: { secrets },
  rateLimits,
  passwordWork,
}: Pick<RoleContext, "config" | "clock" | "backend" | "rateLimits" | "passwordWork">): {
  passes: LinkPasses;
  check: PasswordCheck;
} {
  const check = passwordCheck({
    async isPassword(passwordId, password) {
      // Loaded when it is first needed, because few links have a password.
      const { isLinkPassword } = await import("../../commands/links/link-password.ts");
      return await isLinkPassword({ secrets, clock }, passwordId, password);
    },
    hashing: passwordWork.visitors,
    tries: linkPasswordTries({ rateLimits, clock }),
    key: randomBytes(32),
  });
  return { passes: linkPasses(secretKeyOf(config)), check };
}
