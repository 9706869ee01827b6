// A process that projects and nothing else, for tests that kill it: its configuration is its environment.
import { pino } from "pino";
import { parseConfig } from "../../../src/config.ts";
import { startProjector } from "../../../src/projections/runner/projector.ts";

startProjector(parseConfig(process.env), pino({ level: "warn" }), false);
