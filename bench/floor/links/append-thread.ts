// The bare creator's second thread: appends all events that have come in one transaction, each to a stream of its own.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { openBareEvents } from "./bare-events.ts";

const port = parentPort as MessagePort;
const log = openBareEvents((workerData as { folder: string }).folder);

port.on("message", (first: string[]) => {
  const events = [...first];
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port))
    events.push(...(next.message as string[]));
  log.append(events);
  port.postMessage(events.length / 2);
});
