// Brings every stored secret under the current key: those of versions that kept them in clear, and after a change of
// SECRET_KEY those under the one before. Others read and write meanwhile; what is cut off goes on when it is repeated.
import type { Keyring } from "./keyring.ts";
import type { SecretStore, StoredSecret } from "./port.ts";
import { namesOf, openedValue, sealedValue } from "./sealed-record.ts";

const PAGE = 200;

type Deps = { store: SecretStore; keyring: Keyring; now: Date };

/** Answers how many were encrypted anew. @throws SecretKeyUnknown for one under a key that is not on the ring */
export async function reencrypt(deps: Deps, signal?: AbortSignal): Promise<number> {
  let renewed = 0;
  for (let after = ""; !signal?.aborted; ) {
    const page = await deps.store.page(after, PAGE);
    const done = await Promise.all(page.map((secret) => renew(deps, secret)));
    renewed += done.filter(Boolean).length;
    after = page.at(-1)?.key ?? after;
    if (page.length < PAGE) return renewed;
  }
  return renewed;
}

/** False when there was nothing to do, or somebody else has changed the secret meanwhile, under the current key then. */
async function renew({ store, keyring, now }: Deps, secret: StoredSecret): Promise<boolean> {
  if (keyring.isSealed(secret.value) && keyring.isCurrent(secret.value)) return false;
  const { key, value } = openedValue(keyring, secret.key, secret.value);
  const [name] = namesOf(keyring, key);
  const sealed = sealedValue(keyring, name, key, value);
  if (name === secret.key) return await store.replace(secret, sealed);
  await store.putIfAbsent(name, { value: sealed, expiresAt: secret.expiresAt }, now);
  if (await store.remove(secret)) return true;
  // Deleted or written over while it was copied: the copy must not outlive it.
  await store.remove({ key: name, value: sealed });
  return false;
}
