// Encrypts stored secrets with the current key after a change of SECRET_KEY. Runs beside other reads and writes, and can
// be aborted and repeated.
import type { Keyring } from "./keyring.ts";
import type { SecretStore, StoredSecret } from "./port.ts";
import { namesOf, openedValue, sealedValue } from "./sealed-record.ts";

/** Written at once: fewer than MongoDB's driver has connections, as a write that waits for one fails after three seconds. */
const PAGE = 50;

type Deps = { store: SecretStore; keyring: Keyring; now: Date };

/** Returns how many were encrypted. @throws secret_key_unknown for a value of a key that is not in the keyring */
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

/** False when the secret is current, or was changed by another writer meanwhile, who uses the current key. */
async function renew({ store, keyring, now }: Deps, secret: StoredSecret): Promise<boolean> {
  if (keyring.isCurrent(secret.value)) return false;
  const { key, value } = openedValue(keyring, secret.key, secret.value);
  const [name] = namesOf(keyring, key);
  const sealed = sealedValue(keyring, name, key, value);
  if (name === secret.key) return await store.replace(secret, sealed);
  await store.putIfAbsent(name, { value: sealed, expiresAt: secret.expiresAt }, now);
  if (await store.remove(secret)) return true;
  // The original was deleted or overwritten meanwhile, so the copy is obsolete.
  await store.remove({ key: name, value: sealed });
  return false;
}
