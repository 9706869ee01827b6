// Adding a passkey and signing in with one (WebAuthn Level 3, 7.1 and 7.2): what the browser is asked for, and whether its
// answer is good. The library, which takes a fifth of a second to load, is loaded when the first of them is asked for.
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
  VerifiedAuthenticationResponse,
  VerifiedRegistrationResponse,
  WebAuthnCredential,
} from "@simplewebauthn/server";
import type { CommandContext } from "../commands/caller.ts";
import type { CommandDeps } from "../commands/handle-command.ts";
import {
  findPasskey,
  type Passkey,
  passkeysOf,
  swapPasskey,
  userHandle,
} from "../commands/people/passkeys.ts";
import { addPasskey } from "../commands/people/sign-in-ways.ts";
import { Refused } from "../commands/refusals.ts";
import type { Secrets } from "../stores/secrets/port.ts";
import { beginFlow, endFlow } from "./sign-in-flows.ts";

export type PasskeyDeps = CommandDeps & { secrets: Secrets; baseUrl: string };

/** `flow`: the id by which it is ended. `cookie`: the value to be given to the browser (sign-in-flows.ts). */
export type Ceremony<Options> = { options: Options; flow: string; cookie: string };

/** The browser's answer to a ceremony: JSON in a form's field. */
export type CeremonyAnswer = { flow: string; cookie: string | undefined; response: string };

/** EdDSA, ES256 and RS256: what authenticators have; others would be preferred by the library where Node knows them. */
const ALGORITHMS = [-8, -7, -257];
const SERVICE = "Linkledger";
const MOST_PASSKEYS = 20;
/** An answer of an authenticator is some 1,000 characters. */
const LONGEST_ANSWER = 16_384;

/** `label`: what the person's browser shows beside the passkey. @throws passkey_refused for more than there may be */
export async function beginAdding(
  deps: PasskeyDeps,
  { personId, label }: { personId: string; label: string },
): Promise<Ceremony<PublicKeyCredentialCreationOptionsJSON>> {
  const { generateRegistrationOptions } = await import("@simplewebauthn/server");
  const present = await passkeysOf(deps, personId);
  if (present.length >= MOST_PASSKEYS) throw refused(`A person has at most ${MOST_PASSKEYS} passkeys`);
  const handle = await userHandle(deps, personId);
  const options = await generateRegistrationOptions({
    rpName: SERVICE,
    rpID: rpIdOf(deps),
    userName: label,
    userDisplayName: label,
    userID: new Uint8Array(Buffer.from(handle, "base64url")),
    excludeCredentials: present.map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: ALGORITHMS,
  });
  return await ceremony(deps, options, { purpose: "add", personId });
}

/** `name`: as the person calls it. @throws passkey_refused */
export async function finishAdding(
  deps: PasskeyDeps,
  context: CommandContext,
  { personId, name }: { personId: string; name: string },
  answer: CeremonyAnswer,
): Promise<Passkey> {
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  const { challenge } = await endCeremony(deps, answer, { purpose: "add", personId });
  const response = parsed<RegistrationResponseJSON>(answer.response);
  let verified: VerifiedRegistrationResponse;
  try {
    verified = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: new URL(deps.baseUrl).origin,
      expectedRPID: rpIdOf(deps),
      supportedAlgorithmIDs: ALGORITHMS,
    });
  } catch (error) {
    throw refused(sentenceOf(error));
  }
  if (!verified.verified) throw refused("The answer of the authenticator is not valid");
  const { credential, credentialDeviceType, credentialBackedUp, aaguid } = verified.registrationInfo;
  const passkey: Passkey = {
    passkeyId: deps.newId(),
    personId,
    name,
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString("base64url"),
    counter: credential.counter,
    transports: credential.transports ?? [],
    isSynced: credentialDeviceType === "multiDevice",
    isBackedUp: credentialBackedUp,
    aaguid,
    rpId: rpIdOf(deps),
    createdAt: deps.clock().toISOString(),
    usedAt: null,
  };
  await addPasskey(deps, context, passkey);
  return passkey;
}

/** Whoever has one: no address is asked for, and nothing says who is known here. */
export async function beginSignIn(
  deps: PasskeyDeps,
): Promise<Ceremony<PublicKeyCredentialRequestOptionsJSON>> {
  const { generateAuthenticationOptions } = await import("@simplewebauthn/server");
  const options = await generateAuthenticationOptions({ rpID: rpIdOf(deps), userVerification: "required" });
  return await ceremony(deps, options, { purpose: "sign-in" });
}

/**
 * A counter that has not grown is a copy where the key can't leave its device, and is refused; of a synced key it says nothing.
 * @throws passkey_refused, one message for unknown keys and wrong answers
 */
export async function finishSignIn(deps: PasskeyDeps, answer: CeremonyAnswer): Promise<Passkey> {
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  const { challenge } = await endCeremony(deps, answer, { purpose: "sign-in" });
  const response = parsed<AuthenticationResponseJSON>(answer.response);
  const before = typeof response.id === "string" ? await findPasskey(deps, response.id) : undefined;
  if (!before) throw refused(UNKNOWN);
  let verified: VerifiedAuthenticationResponse;
  try {
    verified = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: new URL(deps.baseUrl).origin,
      expectedRPID: before.rpId,
      // The library judges the counter before the signature: an alarm that anybody could raise.
      credential: { ...credentialOf(before), counter: 0 },
    });
  } catch {
    throw refused(UNKNOWN);
  }
  const { newCounter, credentialDeviceType, credentialBackedUp } = verified.authenticationInfo;
  const isOfPerson = response.response.userHandle === (await userHandle(deps, before.personId));
  // Neither is checked by the library (7.2, steps 6 and 19).
  if (!verified.verified || !isOfPerson || (credentialDeviceType === "multiDevice") !== before.isSynced)
    throw refused(UNKNOWN);
  const isStale = (newCounter > 0 || before.counter > 0) && newCounter <= before.counter;
  if (isStale && !before.isSynced) {
    await swapPasskey(deps, before, { ...before, copySeenAt: deps.clock().toISOString() });
    throw refused(
      "This passkey was used elsewhere since, as a copy of it would be: remove it and add another",
    );
  }
  const after: Passkey = {
    ...before,
    counter: Math.max(before.counter, newCounter),
    isBackedUp: credentialBackedUp,
    usedAt: deps.clock().toISOString(),
  };
  if (!(await swapPasskey(deps, before, after))) throw refused(UNKNOWN);
  return after;
}

const UNKNOWN = "This passkey is not known here, or its answer is not valid";

type Purpose = { purpose: "add"; personId: string } | { purpose: "sign-in" };

async function ceremony<Options extends { challenge: string }>(
  deps: PasskeyDeps,
  options: Options,
  purpose: Purpose,
): Promise<Ceremony<Options>> {
  const flow = deps.newId();
  const value = { ...purpose, challenge: options.challenge };
  return { options, flow, cookie: await beginFlow(deps, { kind: "passkey", id: flow }, value) };
}

/** @throws passkey_refused */
async function endCeremony(
  deps: PasskeyDeps,
  { flow, cookie }: CeremonyAnswer,
  wanted: Purpose,
): Promise<{ challenge: string }> {
  type Begun = { purpose: string; personId?: string; challenge: string };
  const begun = await endFlow<Begun>(deps, { kind: "passkey", id: flow }, cookie);
  const personId = wanted.purpose === "add" ? wanted.personId : undefined;
  if (!begun || begun.purpose !== wanted.purpose || begun.personId !== personId)
    throw refused("This was begun too long ago, or answered already: try again");
  return begun;
}

function parsed<T extends { id: string; response: object }>(text: string): T {
  try {
    const value = text.length > LONGEST_ANSWER ? undefined : JSON.parse(text);
    if (typeof value?.id === "string" && typeof value.response === "object" && value.response !== null)
      return value;
  } catch {
    // As below.
  }
  throw refused("The answer of the authenticator is not valid");
}

function credentialOf({ credentialId, publicKey, counter }: Passkey): WebAuthnCredential {
  return { id: credentialId, publicKey: new Uint8Array(Buffer.from(publicKey, "base64url")), counter };
}

/** Passkeys work for one host name, whatever Host a request has. */
function rpIdOf({ baseUrl }: Pick<PasskeyDeps, "baseUrl">): string {
  return new URL(baseUrl).hostname;
}

function refused(message: string): Refused {
  return new Refused("passkey_refused", message);
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : "The answer of the authenticator is not valid";
}
