// The keys of sealed logs in tests.
import { sealKeysOf } from "../../../src/audit/seals/seal-keys.ts";

export const KEYS = sealKeysOf("a secret key that is long enough to be one");
export const LATER_KEYS = sealKeysOf("another secret key that is long enough to be one");
