// Keeps `process.nextTick` fast for the whole life of a process, by keeping one of its records in memory.
import { executionAsyncResource } from "node:async_hooks";

/**
 * Node makes a record for each tick, by a literal with computed names, which V8 compiles for the shape that it has met.
 * When a few major collections in a row find no record, the shape is collected too, and V8 makes all later ones by its
 * slow path: some 3,000 instructions a tick instead of 300, and an HTTP request has about nine. To be called before the
 * program is loaded, as that collects much. The returned function lets the record go.
 */
export function keepTickShape(): () => Promise<void> {
  let record: object | undefined;
  process.nextTick(() => {
    record = executionAsyncResource();
  });
  return async () => {
    if (record) record = undefined;
  };
}
