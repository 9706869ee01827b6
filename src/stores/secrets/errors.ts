// The error of a stored secret that can't be decrypted.
import { DomainError } from "../../runtime/errors.ts";

/** Its key is known, but the text was changed, or copied from a record of another name. */
export class SecretDamaged extends DomainError {
  override readonly code = "secret_damaged";
  constructor(name: string, cause?: unknown) {
    super(`The secret ${name} is damaged: it can't be decrypted`, { cause });
  }
}
