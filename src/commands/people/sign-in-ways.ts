// By what a person can sign in, and changes of it that leave them at least one way: passkeys, and doing without a password.
import type { SignInWay } from "../../events/vocabulary.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { acceptLabel } from "../accept-text.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import { withLock } from "../with-lock.ts";
import { identitiesOf } from "./identities.ts";
import {
  claimCredential,
  forgetPasskey,
  type Passkey,
  passkeyOf,
  passkeysOf,
  storePasskey,
  swapPasskey,
} from "./passkeys.ts";
import { passwordEpoch } from "./password.ts";
import { recordAct, writeForPerson } from "./person-stream.ts";
import { passwordSecret } from "./secrets.ts";

/** `signIn`: the ways that are on. `baseHost`: for which passkeys work. */
export type WaysDeps = CommandDeps & {
  secrets: Secrets;
  signIn: readonly SignInWay[];
  baseHost: string;
  /** The provider that people sign in at. */
  oidc?: { client: { readonly issuer: string } } | undefined;
};

/** `password`, and the ids of passkeys and identities. */
export async function waysOf(deps: WaysDeps, personId: string): Promise<string[]> {
  const { secrets, clock, signIn, baseHost, oidc } = deps;
  const [epoch, passkeys, identities] = await Promise.all([
    passwordEpoch(secrets, personId, clock()),
    passkeysOf(deps, personId),
    identitiesOf(deps, personId),
  ]);
  const usable = passkeys.filter(({ rpId }) => rpId === baseHost).map(({ passkeyId }) => passkeyId);
  const linked = identities.filter(({ issuer }) => issuer === oidc?.client.issuer);
  return [
    ...(signIn.includes("password") && epoch !== "" ? ["password"] : []),
    ...(signIn.includes("passkey") ? usable : []),
    ...linked.map(({ identityId }) => identityId),
  ];
}

/** Ends one of the person's ways, unless it is the last that works; of several at once, one after the other. */
export async function withoutWay<T>(
  deps: WaysDeps,
  personId: string,
  way: string,
  end: () => Promise<T>,
): Promise<T> {
  return await withLock(deps, `sign-in-ways/${personId}/lock`, "try_again", async () => {
    const ways = await waysOf(deps, personId);
    if (ways.length === 1 && ways[0] === way) throw new Refused("last_way_to_sign_in");
    return await end();
  });
}

/**
 * Recorded before it can be used: nobody signs in with one that the log doesn't know of.
 * @throws passkey_refused where the authenticator's key is somebody's already; person_not_found
 */
export async function addPasskey(
  deps: CommandDeps & { secrets: Secrets },
  context: CommandContext,
  passkey: Passkey,
): Promise<void> {
  const { personId, passkeyId } = passkey;
  if (!(await claimCredential(deps, passkey)))
    throw new Refused("passkey_refused", "This passkey is in use already");
  await recordAct(deps, context, personId, "PasskeyAdded", { passkeyId });
  const store = () => storePasskey(deps, passkey);
  await writeForPerson(deps, personId, store, () => forgetPasskey(deps, passkey));
}

/** `text`: as it is typed; without one it keeps its name. @throws passkey_not_found */
export async function renamePasskey(
  deps: { secrets: Secrets; clock: () => Date },
  personId: string,
  passkeyId: string,
  text: string,
): Promise<void> {
  const before = await passkeyOf(deps, personId, passkeyId);
  if (!before) throw new Refused("passkey_not_found");
  const after = { ...before, name: acceptLabel(text) || before.name };
  // Somebody signs in with it just now, which would be undone.
  if (!(await swapPasskey(deps, before, after))) throw new Refused("try_again");
}

/** @throws passkey_not_found, last_way_to_sign_in */
export async function removePasskey(
  deps: WaysDeps,
  context: CommandContext,
  personId: string,
  passkeyId: string,
): Promise<void> {
  await withoutWay(deps, personId, passkeyId, async () => {
    const passkey = await passkeyOf(deps, personId, passkeyId);
    if (!passkey) throw new Refused("passkey_not_found");
    await forgetPasskey(deps, passkey);
    await recordAct(deps, context, personId, "PasskeyRemoved", { passkeyId });
  });
}

/** Sessions of the password are void afterwards. @throws last_way_to_sign_in */
export async function removePassword(
  deps: WaysDeps,
  context: CommandContext,
  personId: string,
): Promise<void> {
  await withoutWay(deps, personId, "password", async () => {
    await deps.secrets.delete(passwordSecret(personId));
    await recordAct(deps, context, personId, "PasswordChanged", { how: "removed" });
  });
}
