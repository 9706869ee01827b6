// Encrypts every secret's value, and looks e-mail addresses up by a keyed hash: the store without SECRET_KEY shows how
// many secrets there are and for which accounts, but no values.
import type { Keyring } from "./keyring.ts";
import type { SecretRecord, SecretStore, Secrets } from "./port.ts";
import { reencrypt } from "./reencrypt.ts";
import { namesOf, openedValue, sealedValue } from "./sealed-record.ts";

/** An encrypted record by which a process with another SECRET_KEY is refused before it writes unreadable secrets. */
const CHECK = "secret-key-check";

export type EncryptedSecrets = Secrets & {
  /** @throws secret_key_unknown when the stored secrets are encrypted with another SECRET_KEY; StoreUnavailable */
  checkKey(): Promise<void>;
  /** Encrypts with the current key what is not yet; returns how many secrets those were. Can be aborted and repeated. */
  reencrypt(now: Date, signal?: AbortSignal): Promise<number>;
};

/** Writes call checkKey first, and throw what it throws. */
export function encryptedSecrets(store: SecretStore, keyring: Keyring): EncryptedSecrets {
  const seal = (name: string, key: string, value: unknown) => sealedValue(keyring, name, key, value);
  const under = (name: string, key: string, record: SecretRecord): SecretRecord => ({
    ...record,
    value: seal(name, key, record.value),
  });
  const open = (name: string, stored: unknown) => openedValue(keyring, name, stored).value;
  // Earlier names first: `reencrypt` writes the new name before it removes the old one, so one of them is found.
  const firstOf = async (names: readonly string[], read: (name: string) => Promise<unknown>) => {
    for (const name of names.toReversed()) {
      const stored = await read(name);
      if (stored !== undefined) return open(name, stored);
    }
    return undefined;
  };

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
    // Read first, for a store that is only read.
    const stored =
      (await store.get(CHECK, new Date(0))) ?? (await store.putIfAbsent(CHECK, own, new Date(0)));
    open(CHECK, stored);
  };

  return {
    checkKey,
    async reencrypt(now, signal) {
      await checkKey();
      return await reencrypt({ store, keyring, now }, signal);
    },
    get: (key, now) => firstOf(namesOf(keyring, key), (name) => store.get(name, now)),
    async list(prefix, now) {
      const stored = await store.list(prefix, now);
      return stored
        .filter(({ key }) => key !== CHECK)
        .map(({ key: name, value }) => openedValue(keyring, name, value));
    },
    async putIfAbsent(key, record, now) {
      await checkKey();
      const [name, ...earlier] = namesOf(keyring, key);
      const kept = await firstOf(earlier, (former) => store.get(former, now));
      if (kept !== undefined) return kept;
      return open(name, await store.putIfAbsent(name, under(name, key, record), now));
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
    take: (key, now) => firstOf(namesOf(keyring, key), (name) => store.take(name, now)),
    sweep: (now) => store.sweep(now),
    close: () => store.close(),
  };
}
