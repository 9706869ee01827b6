// Whose sign-in a provider's answer is. Pure: what is known of the identity and of its address comes in.
import type { Joining } from "../../config/formats.ts";
import type { ProviderIdentity } from "./oidc-client.ts";

/** A person who has the address that the provider names. `isConfirmed`: they have proven it here, by a mail. */
export type HolderOfAddress = { personId: string; isConfirmed: boolean; hasIdentityOfIssuer: boolean };

/**
 * `linked`: the person of this issuer and subject. `isInvited`: an invitation to the address waits. `isInGroup`: their groups give
 * them something. `joining`: what a newcomer gets (OIDC_JOIN).
 */
export type KnownOfIdentity = {
  linked: string | undefined;
  holder: HolderOfAddress | undefined;
  isInvited: boolean;
  isInGroup: boolean;
  joining: Joining;
};

/** `address`: the one that the person gets, or takes instead of another. */
export type SignInDecision =
  | { type: "sign-in"; personId: string; address: string | undefined }
  | { type: "link"; personId: string }
  | { type: "register"; address: string | undefined }
  | { type: "refuse"; why: string };

/**
 * An identity that is known signs in, whatever its address is by now. One that isn't is linked by itself only where both sides
 * have proven the address and the person has none of that issuer: a squatter's account would survive otherwise.
 */
export function decideSignIn(
  { email, emailVerified }: Pick<ProviderIdentity, "email" | "emailVerified">,
  { linked, holder, isInvited, isInGroup, joining }: KnownOfIdentity,
): SignInDecision {
  const proven = emailVerified ? email : undefined;
  if (linked !== undefined) {
    const isFree = holder === undefined || holder.personId === linked;
    return { type: "sign-in", personId: linked, address: isFree ? proven : undefined };
  }
  if (holder) return linkOrRefuse(holder, proven);
  if (isInvited && proven !== undefined) return { type: "register", address: proven };
  if (isInGroup || joining !== "nothing") return { type: "register", address: proven };
  return {
    type: "refuse",
    why:
      isInvited && email !== undefined
        ? `The provider does not say that ${email} is verified, so that the invitation to it can't be accepted by it: sign in otherwise and link this sign-in on your profile page`
        : "Nobody is known here by this sign-in: ask for an invitation, or sign in otherwise and link it on your profile page",
  };
}

function linkOrRefuse(holder: HolderOfAddress, proven: string | undefined): SignInDecision {
  const whyNot = holder.hasIdentityOfIssuer
    ? "who has this address is linked to another sign-in of this provider already"
    : proven === undefined
      ? "the provider does not say that the address is verified"
      : holder.isConfirmed
        ? undefined
        : "the address was never confirmed here by a mail";
  if (whyNot === undefined) return { type: "link", personId: holder.personId };
  return {
    type: "refuse",
    why: `This sign-in is not linked to anybody, and ${whyNot}: sign in otherwise, and link it on your profile page`,
  };
}
