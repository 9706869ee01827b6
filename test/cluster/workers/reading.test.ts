// What test/api/reading.test.ts says of one process, with `--workers 2`.
process.env.TEST_TOPOLOGY = "workers";
await import("../../api/reading.test.ts");
