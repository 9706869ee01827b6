// Encrypts every secret's value, and looks e-mail addresses up by a keyed hash: the store without SECRET_KEY shows how
// many secrets there are and for which accounts, but no values.
import { isDeepStrictEqual } from "node:util";
import type { Keyring } from "./keyring.ts";
import type { SecretRecord, SecretStore, Secrets, StoredSecret } from "./port.ts";

/** An encrypted record by which a process with another SECRET_KEY is refused before it writes unreadable secrets. */
const CHECK = "secret-key-check";
/** Prefix of keys whose rest is replaced by a keyed hash, as guesses could be tried against a plain hash. */
const HASHED = "account-by-email/";
/** Written at once: fewer than MongoDB's driver has connections, as a write that waits for one fails after three seconds. */
const PAGE = 50;

export type EncryptedSecrets = Secrets & {
  /** @throws secret_key_unknown when the stored secrets are encrypted with another SECRET_KEY; StoreUnavailable */
  checkKey(): Promise<void>;
  /**
   * Encrypts with the current key what is not yet, beside other reads and writes; returns how many secrets those were. Can
   * be aborted and repeated. @throws secret_key_unknown for a value of a key that is not in the keyring
   */
  reencrypt(now: Date, signal?: AbortSignal): Promise<number>;
};

/** Reads throw secret_key_unknown and SecretDamaged. Writes call checkKey first, and throw what it throws. */
export function encryptedSecrets(store: SecretStore, keyring: Keyring): EncryptedSecrets {
  /** The names of a key's record: the present one, then those under previous SECRET_KEYs. */
  const namesOf = (key: string): [present: string, ...earlier: string[]] => {
    if (!key.startsWith(HASHED)) return [key];
    const [present, ...earlier] = keyring.hashes(key);
    return [HASHED + present, ...earlier.map((hash) => HASHED + hash)];
  };
  /** Earlier names first: `renew` writes under the present one before it removes another, so one of them is found. */
  const oldestFirst = (key: string) => namesOf(key).reverse();

  /** With the key, as it can't be recovered from a hashed name. */
  const seal = (name: string, key: string, { value, expiresAt }: SecretRecord): StoredSecret => ({
    name,
    value: keyring.seal(name, JSON.stringify([key, value])),
    expiresAt: expiresAt && new Date(expiresAt).toISOString(),
  });
  const open = ({ name, value: sealed }: StoredSecret): { key: string; value: unknown } => {
    const [key, value] = JSON.parse(keyring.open(name, sealed)) as [string, unknown];
    return { key, value };
  };

  const find = async (names: readonly string[], now: Date) => {
    for (const name of names) {
      const secret = await store.get(name);
      if (isAlive(secret, now)) return secret;
    }
    return undefined;
  };
  /** Writes the record while what has its name, or that nothing has, is `replaceable`; returns what is stored then. */
  const write = async (secret: StoredSecret, replaceable: (present?: StoredSecret) => boolean) => {
    for (;;) {
      const present = await store.get(secret.name);
      if (!replaceable(present)) return present;
      if (await store.swap(present, secret)) return secret;
    }
  };
  const insert = async (secret: StoredSecret, now: Date) =>
    (await write(secret, (present) => !isAlive(present, now))) ?? secret;
  /** Deletes the record, and returns it. */
  const take = async (name: string) => {
    for (;;) {
      const present = await store.get(name);
      if (!present || (await store.remove(name, present.value))) return present;
    }
  };

  let checked: Promise<void> | undefined;
  const check = async () => {
    // Read first, for a store that is only read.
    open((await store.get(CHECK)) ?? (await insert(seal(CHECK, CHECK, { value: true }), new Date(0))));
  };
  const checkKey = () => {
    checked ??= check().catch((error: unknown) => {
      checked = undefined;
      throw error;
    });
    return checked;
  };

  /** Whether it was renewed: sealed with the current key, and named by it. */
  const renew = async (secret: StoredSecret, now: Date): Promise<boolean> => {
    const isCurrent = keyring.isCurrent(secret.value);
    if (isCurrent && !secret.name.startsWith(HASHED)) return false;
    const { key, value } = open(secret);
    const [name] = namesOf(key);
    if (isCurrent && name === secret.name) return false;
    const renewed = seal(name, key, { value, expiresAt: secret.expiresAt });
    // False when another writer has changed it meanwhile, who uses the current key.
    if (name === secret.name) return await store.swap(secret, renewed);
    await insert(renewed, now);
    if (await store.remove(secret.name, secret.value)) return true;
    // Changed or deleted meanwhile, so the copy is obsolete.
    await store.remove(name, renewed.value);
    const changed = await store.get(secret.name);
    return changed !== undefined && (await renew(changed, now));
  };

  return {
    checkKey,
    async reencrypt(now, signal) {
      await checkKey();
      let renewed = 0;
      for await (const page of pages(store, "")) {
        if (signal?.aborted) break;
        const outcomes = await Promise.all(page.map((secret) => renew(secret, now)));
        renewed += outcomes.filter(Boolean).length;
      }
      return renewed;
    },
    async get(key, now) {
      const secret = await find(oldestFirst(key), now);
      return secret && open(secret).value;
    },
    async list(prefix, now) {
      const listed = [];
      for await (const page of pages(store, prefix))
        listed.push(...page.filter((secret) => isAlive(secret, now)));
      return listed.map(open);
    },
    async putIfAbsent(key, record, now) {
      await checkKey();
      const [name, ...earlier] = namesOf(key);
      return open((await find(earlier, now)) ?? (await insert(seal(name, key, record), now))).value;
    },
    async putIfPresent(key, record, now, expected) {
      await checkKey();
      const isExpected = (present?: StoredSecret) =>
        isAlive(present, now) && (expected === undefined || isDeepStrictEqual(open(present).value, expected));
      for (const name of oldestFirst(key)) {
        const secret = seal(name, key, record);
        if ((await write(secret, isExpected)) === secret) return true;
      }
      return false;
    },
    async put(key, record) {
      await checkKey();
      const [name, ...earlier] = namesOf(key);
      await write(seal(name, key, record), () => true);
      for (const former of earlier) await store.remove(former);
    },
    async delete(key) {
      for (const name of oldestFirst(key)) await store.remove(name);
    },
    async take(key, now) {
      for (const name of oldestFirst(key)) {
        const secret = await take(name);
        if (isAlive(secret, now)) return open(secret).value;
      }
      return undefined;
    },
    sweep: (now) => store.sweep(now),
    close: () => store.close(),
  };
}

function isAlive(secret: StoredSecret | undefined, now: Date): secret is StoredSecret {
  return secret !== undefined && (secret.expiresAt === undefined || secret.expiresAt > now.toISOString());
}

/** All records under the prefix; those written meanwhile may be among them. */
async function* pages(store: SecretStore, prefix: string): AsyncGenerator<StoredSecret[]> {
  for (let after = ""; ; ) {
    const page = await store.page(prefix, after, PAGE);
    yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.name ?? after;
  }
}
