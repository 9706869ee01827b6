// The thread that owns the SQLite log, so that no fsync blocks who appends; started by sqlite-thread-client.ts.
import { parentPort, workerData } from "node:worker_threads";
import { type ErrorFields, errorFields } from "../runtime/error-fields.ts";
import { SqliteLog } from "./sqlite-log.ts";
import type { AppendOutcome, AppendRequest, EventRow, ReadAllRequest, ReadRequest } from "./sqlite-rows.ts";

export type Question =
  | { op: "append"; request: AppendRequest }
  | { op: "read"; request: ReadRequest }
  | { op: "readAll"; request: ReadAllRequest }
  | { op: "head" }
  | { op: "close" };

/** What each question is answered with. */
export type Answers = {
  append: AppendOutcome;
  read: EventRow[];
  readAll: EventRow[];
  head: number;
  close: undefined;
};

export type Asked = Question & { id: number };
/** `json`: parsed by who asked, as copying many values between threads is dearer. */
export type Answer =
  | { id: number; json: string }
  | { id: number; value: unknown }
  | { id: number; failure: ErrorFields };

/** Answers the question with id 0, which nobody asks, once the file is open. */
function answerQuestions(port: NonNullable<typeof parentPort>, file: string): void {
  const log = new SqliteLog(file);
  let waiting: (Asked & { op: "append" })[] = [];

  const reply = (id: number, work: () => Answer) => {
    let answer: Answer;
    try {
      answer = work();
    } catch (error) {
      answer = { id, failure: errorFields(error) };
    }
    port.postMessage(answer);
  };
  const answer = (id: number, work: () => unknown) => reply(id, () => ({ id, value: work() }));
  const answerAsJson = (id: number, work: () => EventRow[]) =>
    reply(id, () => ({ id, json: JSON.stringify(work()) }));

  // Everything that arrived while the last commit was on its way to the disk shares the next one.
  const appendWaiting = () => {
    const group = waiting;
    waiting = [];
    if (group.length === 0) return;
    try {
      const outcomes = log.append(group.map(({ request }) => request));
      for (const [index, { id }] of group.entries()) answer(id, () => outcomes[index]);
    } catch (error) {
      const failure = errorFields(error);
      for (const { id } of group) port.postMessage({ id, failure } satisfies Answer);
    }
  };

  port.on("message", (asked: Asked) => {
    switch (asked.op) {
      case "append":
        if (waiting.push(asked) === 1) setImmediate(appendWaiting);
        return;
      case "read":
        return answerAsJson(asked.id, () => log.read(asked.request));
      case "readAll":
        return answerAsJson(asked.id, () => log.readAll(asked.request));
      case "head":
        return answer(asked.id, () => log.head());
      case "close":
        appendWaiting();
        answer(asked.id, () => log.close());
        port.close();
    }
  });
  answer(0, () => undefined);
}

if (parentPort) answerQuestions(parentPort, (workerData as { file: string }).file);
