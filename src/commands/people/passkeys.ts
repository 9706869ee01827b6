// What is kept of passkeys beside the log: public keys and counters, found by the person and by the authenticator's own id.
import { hash, randomBytes } from "node:crypto";
import type { Secrets } from "../../stores/secrets/port.ts";

/**
 * `credentialId`, `publicKey`: base64url. `isSynced`: its provider may copy it to other devices, where counters mean nothing.
 * `rpId`: the host name that it works for. `copySeenAt`: when somebody was refused who used it as a copy would be used.
 * Times: ISO 8601 UTC.
 */
export type Passkey = {
  passkeyId: string;
  personId: string;
  name: string;
  credentialId: string;
  publicKey: string;
  counter: number;
  transports: readonly string[];
  isSynced: boolean;
  isBackedUp: boolean;
  aaguid: string;
  rpId: string;
  createdAt: string;
  usedAt: string | null;
  copySeenAt?: string;
};

type OfPerson = Pick<Passkey, "personId" | "passkeyId">;
type Deps = { secrets: Secrets; clock: () => Date };

const HANDLE_BYTES = 32;

const passkeySecret = (personId: string, passkeyId: string) => `passkey/${personId}/${passkeyId}`;
const byCredentialSecret = (credentialId: string) => `passkey-by-credential/${hash("sha256", credentialId)}`;
const handleSecret = (personId: string) => `passkey-handle/${personId}`;

/** What authenticators keep of a person: random, and without an address (WebAuthn Level 3, 14.6.1). base64url */
export async function userHandle({ secrets, clock }: Deps, personId: string): Promise<string> {
  const value = randomBytes(HANDLE_BYTES).toString("base64url");
  return String(await secrets.putIfAbsent(handleSecret(personId), { value }, clock()));
}

/** Oldest first. */
export async function passkeysOf({ secrets, clock }: Deps, personId: string): Promise<Passkey[]> {
  const records = await secrets.list(passkeySecret(personId, ""), clock());
  const passkeys = records.map(({ value }) => value as Passkey);
  return passkeys.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
}

/** Undefined where the person has no such passkey. */
export async function passkeyOf(
  { secrets, clock }: Deps,
  personId: string,
  passkeyId: string,
): Promise<Passkey | undefined> {
  return (await secrets.get(passkeySecret(personId, passkeyId), clock())) as Passkey | undefined;
}

/** False where the authenticator's key is somebody's already. Nobody signs in with it before it is stored. */
export async function claimCredential({ secrets, clock }: Deps, passkey: Passkey): Promise<boolean> {
  const { personId, passkeyId, credentialId } = passkey;
  const value: OfPerson = { personId, passkeyId };
  const owner = await secrets.putIfAbsent(byCredentialSecret(credentialId), { value }, clock());
  return (owner as OfPerson).passkeyId === passkeyId;
}

export async function storePasskey({ secrets }: Pick<Deps, "secrets">, passkey: Passkey): Promise<void> {
  await secrets.put(passkeySecret(passkey.personId, passkey.passkeyId), { value: passkey });
}

/** By the authenticator's own id. */
export async function findPasskey(deps: Deps, credentialId: string): Promise<Passkey | undefined> {
  const owner = (await deps.secrets.get(byCredentialSecret(credentialId), deps.clock())) as
    | OfPerson
    | undefined;
  return owner && (await passkeyOf(deps, owner.personId, owner.passkeyId));
}

/** Only while it is stored as `before`: of two uses at once one counts. */
export async function swapPasskey(
  { secrets, clock }: Deps,
  before: Passkey,
  after: Passkey,
): Promise<boolean> {
  const name = passkeySecret(before.personId, before.passkeyId);
  return await secrets.putIfPresent(name, { value: after }, clock(), before);
}

export async function forgetPasskey(
  { secrets }: Pick<Deps, "secrets">,
  { personId, passkeyId, credentialId }: OfPerson & Pick<Passkey, "credentialId">,
): Promise<void> {
  await secrets.delete(byCredentialSecret(credentialId));
  await secrets.delete(passkeySecret(personId, passkeyId));
}

/** All of a person that is removed. */
export async function forgetPasskeys(deps: Deps, personId: string): Promise<void> {
  for (const passkey of await passkeysOf(deps, personId)) await forgetPasskey(deps, passkey);
  await deps.secrets.delete(handleSecret(personId));
}
