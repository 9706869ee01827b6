// A process with the projector only, for tests that kill it; configured by environment variables.
import { pino } from "pino";
import { parseConfig } from "../../../src/config/config.ts";
import { startProjector } from "../../../src/service/threads/projector.ts";

startProjector(parseConfig(process.env), pino({ level: "warn" }));
