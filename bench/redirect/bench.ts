// What the parts of the redirect benchmark work with.
import type { Side } from "../compare/side.ts";
import type { Load } from "../load/load.ts";
import type { Report } from "../report/report.ts";
import type { BenchService } from "../setup/bench-service.ts";
import type { Traffic } from "../traffic/requests.ts";

export type Bench = BenchService & { load: Load; bare: Side; side: Side; traffic: Traffic; report: Report };
