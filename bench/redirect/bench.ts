// What the parts of the redirect benchmark work with.
import type { Load } from "../load/load.ts";
import type { Server } from "../measure/rounds.ts";
import type { Report } from "../report/report.ts";
import type { BenchService } from "../setup/bench-service.ts";
import type { Traffic } from "../traffic/requests.ts";

export type Bench = BenchService & { load: Load; server: Server; traffic: Traffic; report: Report };
