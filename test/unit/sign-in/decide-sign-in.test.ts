// Whose sign-in a provider's answer is: nobody gets into another's account by an address.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Joining } from "../../../src/config/formats.ts";
import { decideSignIn } from "../../../src/sign-in/oidc/decide-sign-in.ts";

const identity = fc.record({
  email: fc.option(fc.constant("anna@people.example"), { nil: undefined }),
  emailVerified: fc.boolean(),
});
const lookedUp = fc.record({
  linked: fc.constantFrom(undefined, "anna", "ben"),
  holder: fc.option(
    fc.record({
      personId: fc.constantFrom("anna", "ben"),
      isConfirmed: fc.boolean(),
      hasIdentityOfIssuer: fc.boolean(),
    }),
    { nil: undefined },
  ),
  isInvited: fc.boolean(),
  isInGroup: fc.boolean(),
  joining: fc.constantFrom<Joining[]>("nothing", "account", { accountId: "one", role: "viewer" }),
} as const);

describe("a provider's answer", () => {
  it("signs in whose identity it is, else who has proven the address on both sides, else nobody who is here", () => {
    fc.assert(
      fc.property(identity, lookedUp, (of, now) => {
        const decision = decideSignIn(of, now);
        if (decision.type === "sign-in") expect(decision.personId).toBe(now.linked);
        else expect(now.linked).toBeUndefined();
        if (decision.type === "link") {
          expect(of.emailVerified && of.email !== undefined).toBe(true);
          expect(now.holder).toEqual({
            personId: decision.personId,
            isConfirmed: true,
            hasIdentityOfIssuer: false,
          });
        }
        // Nobody gets an address that is somebody else's, or that isn't proven.
        const address = "address" in decision ? decision.address : undefined;
        if (address !== undefined) {
          expect(of.emailVerified).toBe(true);
          if (now.holder) expect(now.holder.personId).toBe(now.linked);
        }
        if (decision.type === "register")
          expect(now.joining !== "nothing" || now.isInvited || now.isInGroup).toBe(true);
      }),
    );
  });

  it("tells why it is not linked by itself", () => {
    const holder = { personId: "anna", isConfirmed: false, hasIdentityOfIssuer: false };
    const of = { email: "anna@people.example", emailVerified: true };
    const now = { linked: undefined, isInvited: false, isInGroup: false, joining: "account" } as const;
    expect(decideSignIn(of, { ...now, holder })).toMatchObject({
      why: expect.stringContaining("never confirmed here"),
    });
    expect(decideSignIn({ ...of, emailVerified: false }, { ...now, holder })).toMatchObject({
      why: expect.stringContaining("does not say that the address is verified"),
    });
  });
});
