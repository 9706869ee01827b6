// A process with the projector only, for tests that kill it; configured by environment variables.
import { pino } from "pino";
import { parseConfig } from "../../../src/config/config.ts";
import { startBackground } from "../../../src/service/threads/background.ts";

startBackground({ config: parseConfig(process.env), roles: ["projector"] }, pino({ level: "warn" }));
