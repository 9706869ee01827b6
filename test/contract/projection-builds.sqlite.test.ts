// Builds of projections on SQLite.
import { openStores } from "../support/runtime/stores.ts";
import { projectionBuildsContract } from "./projection-builds.ts";
import { projectionVerificationContract } from "./projection-verification.ts";
import { projectionVersionsContract } from "./projection-versions.ts";
import { reclassifiedBuildsContract } from "./reclassified-builds.ts";
import { withdrawnClicksContract } from "./withdrawn-clicks.ts";

const open = async () => {
  const { close, ...stores } = await openStores();
  return { ...stores, cleanUp: close };
};

projectionBuildsContract("SQLite", open);
projectionVersionsContract("SQLite", open);
projectionVerificationContract("SQLite", open);
withdrawnClicksContract("SQLite", open);
reclassifiedBuildsContract("SQLite", open);
