// What test/api/shorten-bulk.test.ts says of one process, with `--workers 2`.
process.env.TEST_TOPOLOGY = "workers";
await import("../../api/shorten-bulk.test.ts");
