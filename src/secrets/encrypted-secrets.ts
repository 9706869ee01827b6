// Secrets as they lie in the store: every value encrypted, and e-mail addresses found by a keyed hash. Who has the
// store and not SECRET_KEY learns how many secrets there are and whose, not what they are.
import type { Keyring } from "./keyring.ts";
import type { SecretRecord, SecretStore, Secrets } from "./port.ts";
import { reencrypt } from "./reencrypt.ts";
import { namesOf, openedValue, sealedValue } from "./sealed-record.ts";

/** Is encrypted like all others; tells a process with another SECRET_KEY before it writes what nobody else can read. */
const CHECK = "secret-key-check";

export type EncryptedSecrets = Secrets & {
  /** @throws SecretKeyUnknown when what is stored is encrypted with another SECRET_KEY; StoreUnavailable */
  checkKey(): Promise<void>;
  /** Brings every stored secret under the current key; answers how many were not. Safe to cut off and repeat. */
  reencrypt(now: Date, signal?: AbortSignal): Promise<number>;
};

/**
 * Values of versions before this one are read as they are, until `reencrypt` has come by. Writes throw
 * SecretKeyUnknown where checkKey does.
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
    const mine = { value: seal(CHECK, CHECK, true) };
    const stored = await store.putIfAbsent(CHECK, mine, new Date(0));
    openIf(CHECK, stored);
  };

  return {
    checkKey,
    async reencrypt(now, signal) {
      await checkKey();
      return await reencrypt({ store, keyring, now }, signal);
    },
    async get(key, now) {
      // Earlier names first: what is being renamed is found under one of them at any moment.
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
