// The floor of creates and of durable redirects: what SQLite alone takes to append events with an fsync, one or many a
// transaction, and what a call to another thread takes.
import { randomUUID } from "node:crypto";
import { Worker } from "node:worker_threads";
import { openLogDatabase } from "../floor/databases.ts";
import type { Floor } from "./documents.ts";

/** Events of one transaction: of a single request, of half a bulk request, of a busy recorder. */
const GROUPS = [1, 48, 500];
/** Bytes of a LinkCreated and its metadata. */
const SIZE = 700;
/** As many calls as the benchmarks have connections. */
const IN_FLIGHT = 50;
const CALLS = 50_000;
const ECHO = `const { parentPort } = require("node:worker_threads");
parentPort.on("message", (message) => parentPort.postMessage(message));`;

/** In a new database in the folder, with the settings and the indexes of our log. `seconds`: of each measurement. */
export function measureAppends(folder: string, seconds: number): Floor[] {
  const db = openLogDatabase(folder, "appends.db");
  try {
    db.exec("CREATE TABLE e (position INTEGER PRIMARY KEY, stream TEXT UNIQUE, id TEXT UNIQUE, data TEXT)");
    const insert = db.prepare("INSERT INTO e (stream, id, data) VALUES (?, ?, ?)");
    const data = "x".repeat(SIZE);
    return GROUPS.map((events) => {
      const cpu = process.cpuUsage();
      const started = performance.now();
      let appended = 0;
      while (performance.now() - started < seconds * 1_000) {
        db.exec("BEGIN IMMEDIATE");
        for (let n = 0; n < events; n++) insert.run(randomUUID(), randomUUID(), data);
        db.exec("COMMIT");
        appended += events;
      }
      return floorOf(`append an event, ${events} a transaction with an fsync`, appended, started, cpu);
    });
  } finally {
    db.close();
  }
}

/** A message of an event's size to another thread and back; CPU time of both threads. */
export async function measureThreadCalls(): Promise<Floor> {
  const worker = new Worker(ECHO, { eval: true });
  const message = { id: 0, args: ["x".repeat(SIZE)] };
  const cpu = process.cpuUsage();
  const started = performance.now();
  await new Promise<void>((resolve, reject) => {
    let answered = 0;
    let sent = IN_FLIGHT;
    worker.on("error", reject);
    worker.on("message", () => {
      answered += 1;
      if (answered === CALLS) resolve();
      else if (sent < CALLS) {
        sent += 1;
        worker.postMessage(message);
      }
    });
    for (let n = 0; n < IN_FLIGHT; n++) worker.postMessage(message);
  });
  const floor = floorOf("call another thread", CALLS, started, cpu);
  await worker.terminate();
  return floor;
}

function floorOf(what: string, count: number, started: number, before: NodeJS.CpuUsage): Floor {
  const { user, system } = process.cpuUsage(before);
  return {
    what,
    perSecond: count / ((performance.now() - started) / 1_000),
    cpuMicros: (user + system) / count,
  };
}
