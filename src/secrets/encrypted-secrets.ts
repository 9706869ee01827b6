// Encrypts every secret's value, and looks e-mail addresses up by a keyed hash: the store without SECRET_KEY shows how
// many secrets there are and for which accounts, but no values.
import type { Keyring } from "./keyring.ts";
import type { SecretRecord, SecretStore, Secrets } from "./port.ts";
import { reencrypt } from "./reencrypt.ts";
import { namesOf, openedValue, sealedValue } from "./sealed-record.ts";

/** An encrypted record by which a process with another SECRET_KEY is refused before it writes unreadable secrets. */
const CHECK = "secret-key-check";

export type EncryptedSecrets = Secrets & {
  /** @throws SecretKeyUnknown when the stored secrets are encrypted with another SECRET_KEY; StoreUnavailable */
  checkKey(): Promise<void>;
  /** Encrypts with the current key what is not yet; returns how many secrets those were. Can be aborted and repeated. */
  reencrypt(now: Date, signal?: AbortSignal): Promise<number>;
};

/**
 * Unencrypted values of earlier versions are readable until `reencrypt` has encrypted them. Writes call checkKey first,
 * and throw what it throws.
 */
export function encryptedSecrets(store: SecretStore, keyring: Keyring): EncryptedSecrets {
  const seal = (name: string, key: string, value: unknown) => sealedValue(keyring, name, key, value);
  const under = (name: string, key: string, record: SecretRecord): SecretRecord => ({
    ...record,
    value: seal(name, key, record.value),
  });
  const openIf = (name: string, stored: unknown) =>
    stored === undefined ? undefined : openedValue(keyring, name, stored).value;

  let checked: Promise<void> | undefined;
  const checkKey = () => {
    checked ??= check().catch((error: unknown) => {
      checked = undefined;
      throw error;
    });
    return checked;
  };
  const check = async () => {
    const own = { value: seal(CHECK, CHECK, true) };
    const stored = await store.putIfAbsent(CHECK, own, new Date(0));
    openIf(CHECK, stored);
  };

  return {
    checkKey,
    async reencrypt(now, signal) {
      await checkKey();
      return await reencrypt({ store, keyring, now }, signal);
    },
    async get(key, now) {
      // Earlier names first: `reencrypt` writes the new name before it removes the old one, so one of them is found.
      for (const name of namesOf(keyring, key).reverse()) {
        const stored = await store.get(name, now);
        if (stored !== undefined) return openIf(name, stored);
      }
      return undefined;
    },
    async list(prefix, now) {
      const stored = await store.list(prefix, now);
      return stored
        .filter(({ key }) => key !== CHECK)
        .map(({ key: name, value }) => openedValue(keyring, name, value));
    },
    async putIfAbsent(key, record, now) {
      await checkKey();
      const [name, ...earlier] = namesOf(keyring, key);
      for (const former of earlier.reverse()) {
        const stored = await store.get(former, now);
        if (stored !== undefined) return openIf(former, stored);
      }
      return openIf(name, await store.putIfAbsent(name, under(name, key, record), now));
    },
    async putIfPresent(key, record, now) {
      await checkKey();
      for (const name of namesOf(keyring, key).reverse())
        if (await store.putIfPresent(name, under(name, key, record), now)) return true;
      return false;
    },
    async put(key, record) {
      await checkKey();
      const [name, ...earlier] = namesOf(keyring, key);
      await store.put(name, under(name, key, record));
      for (const former of earlier) await store.delete(former);
    },
    async delete(key) {
      for (const name of namesOf(keyring, key).reverse()) await store.delete(name);
    },
    async take(key, now) {
      for (const name of namesOf(keyring, key).reverse()) {
        const stored = await store.take(name, now);
        if (stored !== undefined) return openIf(name, stored);
      }
      return undefined;
    },
    sweep: (now) => store.sweep(now),
    close: () => store.close(),
  };
}
