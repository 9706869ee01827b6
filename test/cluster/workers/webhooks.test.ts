// What test/api/webhooks.test.ts says of one process, with `--workers 2`.
process.env.TEST_TOPOLOGY = "workers";
await import("../../api/webhooks.test.ts");
