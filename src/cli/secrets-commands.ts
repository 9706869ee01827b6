// linkledger secrets rotate: re-encrypts the secrets, the last step of changing SECRET_KEY (docs/operations.md).
import type { CommandRow } from "./command.ts";
import { onStores } from "./session.ts";

export const commands: readonly CommandRow[] = [
  {
    name: "rotate",
    about: "encrypt everything under SECRET_KEY that is under SECRET_KEY_PREVIOUS",
    by: onStores,
    async run({ backend, deps, work }) {
      const reencrypted = await work.interruptible(
        () => "Some secrets are still under SECRET_KEY_PREVIOUS: the same command goes on with them",
        () => backend.secrets.reencrypt(deps.clock(), work.signal),
      );
      return { reencrypted };
    },
  },
];
