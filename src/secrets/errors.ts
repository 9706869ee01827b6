// Why a secret that is there can't be read.
import { DomainError } from "../runtime/errors.ts";

/** Encrypted under a known key, but changed since, or put under another record's name: nobody will ever read it. */
export class SecretDamaged extends DomainError {
  override readonly code = "secret_damaged";
  constructor(name: string, cause: unknown) {
    super(`The secret ${name} is damaged: it can't be decrypted`, { cause });
  }
}
