// Builds of projections on SQLite.
import { openStores } from "../support/runtime/stores.ts";
import { projectionBuildsContract } from "./projection-builds.ts";

projectionBuildsContract("SQLite", async () => {
  const { close, ...stores } = await openStores();
  return { ...stores, cleanUp: close };
});
