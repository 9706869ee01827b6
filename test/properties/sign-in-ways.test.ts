// Whatever is added and removed, in whatever order and at once, who could sign in still can.
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Passkey } from "../../src/commands/people/passkeys.ts";
import { passkeysOf } from "../../src/commands/people/passkeys.ts";
import { hashPassword, keepPassword } from "../../src/commands/people/password.ts";
import { addPasskey, removePasskey, removePassword, waysOf } from "../../src/commands/people/sign-in-ways.ts";
import { isRefused } from "../../src/commands/refusals.ts";
import { openCommandDeps, operator } from "../support/commands/command-deps.ts";

/** `n`: of the passkeys that there are, by turns. */
const step = fc.oneof(
  fc.record({ type: fc.constant("add"), isElsewhere: fc.boolean() }),
  fc.record({ type: fc.constant("remove"), n: fc.nat(4) }),
  fc.constant({ type: "set password" }),
  fc.constant({ type: "remove password" }),
);
type Step = { type: string; isElsewhere?: boolean; n?: number };

describe("the ways in which somebody signs in", () => {
  let opened: Awaited<ReturnType<typeof openCommandDeps>>;
  let passwordHash: string;
  beforeAll(async () => {
    opened = await openCommandDeps();
    passwordHash = await hashPassword("seven brown foxes");
  });
  afterAll(() => opened.close());

  it("never end all, unless there was none", { timeout: 120_000 }, async () => {
    const deps = { ...opened.deps, signIn: ["password", "passkey"] as const };
    const run = async (personId: string, { type, isElsewhere = false, n = 0 }: Step): Promise<unknown> => {
      const present = await passkeysOf(deps, personId);
      if (type === "add") return await addPasskey(deps, operator, passkeyOf(personId, isElsewhere));
      if (type === "set password")
        return await keepPassword(deps, operator, personId, { how: "signed-in", passwordHash });
      if (type === "remove password") return await removePassword(deps, operator, personId);
      const chosen = present[n % Math.max(present.length, 1)];
      return chosen && (await removePasskey(deps, operator, personId, chosen.passkeyId));
    };
    const atOnce = fc.array(step, { minLength: 1, maxLength: 4 });
    const property = fc.asyncProperty(fc.array(atOnce, { maxLength: 8 }), async (rounds) => {
      const personId = randomUUID();
      let couldSignIn = false;
      for (const steps of rounds) {
        const results = await Promise.allSettled(steps.map((one) => run(personId, one)));
        for (const result of results)
          if (result.status === "rejected")
            expect(
              ["last_way_to_sign_in", "passkey_not_found", "try_again"].some((code) =>
                isRefused(result.reason, code as "try_again"),
              ),
              String(result.reason),
            ).toBe(true);
        const ways = await waysOf(deps, personId);
        if (couldSignIn) expect(ways).not.toEqual([]);
        couldSignIn = ways.length > 0;
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });
});

function passkeyOf(personId: string, isElsewhere: boolean): Passkey {
  return {
    ...{ personId, passkeyId: randomUUID(), name: "Laptop", credentialId: randomUUID() },
    ...{ publicKey: "", counter: 0, transports: [], isSynced: false, isBackedUp: false, aaguid: "" },
    rpId: isElsewhere ? "other.example" : "localhost",
    createdAt: "2026-11-29T10:00:00.000Z",
    usedAt: null,
  };
}
