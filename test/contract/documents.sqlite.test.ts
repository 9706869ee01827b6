// What is promised of projected documents, on the embedded read store: builds, the index of events, the portal's queries.
import { openStores } from "../support/runtime/stores.ts";
import { eventIndexContract } from "./event-index.ts";
import { linkStatusesContract } from "./link-statuses.ts";
import { portalQueriesContract } from "./portal-queries.ts";
import { projectionBuildsContract } from "./projection-builds.ts";

eventIndexContract("SQLite", openStores);
portalQueriesContract("SQLite", openStores);
linkStatusesContract("SQLite", openStores);
projectionBuildsContract("SQLite", openStores);
