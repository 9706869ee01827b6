// One delivery attempt against real receivers: the request on the wire, and the result for each kind of answer.
import { type AddressInfo, createServer } from "node:net";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  SAMPLE_AT,
  SAMPLE_ID,
  SAMPLE_KEY,
  sampleBody,
  sendSample,
  testSender,
} from "../../support/webhooks/send-sample.ts";
import { signingSecret } from "../../support/webhooks/signing-secret.ts";
import { startReceiver } from "../../support/webhooks/webhook-receiver.ts";

const OLD_KEY = "whk_543210zyxwvutsrqponmlkjihgfedcba";

describe("a delivery", () => {
  it("is a POST with exactly the headers and the body of the interface", async () => {
    const receiver = await startReceiver();
    const before = Date.now();
    const result = await sendSample(`http://127.0.0.1:${receiver.port}/hooks/clicks?team=a%20b`);
    expect(result).toMatchObject({
      status: 200,
      error: null,
      answer: '{"received":true}',
      retryAfterMs: null,
    });

    const [request] = receiver.received;
    expect(request?.method).toBe("POST");
    expect(request?.path).toBe("/hooks/clicks?team=a%20b");
    expect(request?.body.toString()).toBe(sampleBody);
    expect([...(request?.headerNames ?? [])].map((name) => name.toLowerCase()).sort()).toEqual([
      "connection",
      "content-length",
      "content-type",
      "host",
      "user-agent",
      "webhook-id",
      "webhook-signature",
      "webhook-timestamp",
      "x-api-key",
      "x-webhook-event",
      "x-webhook-timestamp",
    ]);
    expect(request?.headerNames).toEqual(
      expect.arrayContaining([
        "X-API-Key",
        "X-Webhook-Event",
        "X-Webhook-Timestamp",
        "Content-Type",
        "User-Agent",
      ]),
    );
    expect(request?.headers).toMatchObject({
      host: `127.0.0.1:${receiver.port}`,
      "x-api-key": SAMPLE_KEY,
      "x-webhook-event": "link.clicked",
      "content-type": "application/json",
      "user-agent": "service-webhooks/2.0",
      "content-length": String(Buffer.byteLength(sampleBody)),
      "webhook-id": SAMPLE_ID,
    });
    const sentAt = String(request?.headers["x-webhook-timestamp"]);
    expect(new Date(sentAt).toISOString()).toBe(sentAt);
    expect(Date.parse(sentAt)).toBeGreaterThanOrEqual(before);
    expect(request?.headers["webhook-timestamp"]).toBe(String(Math.floor(Date.parse(sentAt) / 1000)));
    expect(result.at).toBe(sentAt);
    const verified = new Webhook(signingSecret(SAMPLE_KEY)).verify(
      String(request?.body),
      request?.headers as Record<string, string>,
    );
    expect(verified).toMatchObject({ event: "link.clicked", timestamp: SAMPLE_AT });
  });

  it("sends the current key in X-API-Key and is signed with the previous one too during a rotation", async () => {
    const receiver = await startReceiver();
    await sendSample(`http://127.0.0.1:${receiver.port}/`, {}, [
      { key: OLD_KEY, seed: "543210zyxwvutsrqponmlkjihgfedcba" },
    ]);
    const [request] = receiver.received;
    expect(request?.headers["x-api-key"]).toBe(SAMPLE_KEY);
    for (const key of [SAMPLE_KEY, OLD_KEY])
      expect(() =>
        new Webhook(signingSecret(key)).verify(
          String(request?.body),
          request?.headers as Record<string, string>,
        ),
      ).not.toThrow();
  });

  it("masks the key in the logged headers", async () => {
    const receiver = await startReceiver();
    const result = await sendSample(`http://127.0.0.1:${receiver.port}/`);
    expect(JSON.stringify(result)).not.toContain(SAMPLE_KEY.slice(4, -4));
    expect(result.requestHeaders).toMatchObject({
      "X-API-Key": "whk_…2345",
      "User-Agent": "service-webhooks/2.0",
    });
  });

  it("reuses connections", async () => {
    const receiver = await startReceiver();
    const sender = testSender();
    for (let n = 0; n < 20; n++) await sendSample(`http://127.0.0.1:${receiver.port}/${n}`, { sender });
    expect(receiver.received).toHaveLength(20);
    // A connection becomes free shortly after its answer has ended, so two connections are used in turn.
    expect(receiver.connections()).toBeLessThanOrEqual(2);
  });
});

describe("a keep-alive connection that the receiver closes at its reuse", () => {
  it("is no failed attempt: the request is repeated on a new connection", async () => {
    let served = 0;
    // Closes each connection at its second request, as a receiver does whose keep-alive time has just ended.
    const server = createServer((socket) => {
      let requests = 0;
      socket.on("data", (chunk) => {
        if (!String(chunk).startsWith("POST ")) return;
        requests += 1;
        if (requests > 1) socket.end();
        else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", () => served++);
      });
    });
    server.listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const sender = testSender();
    for (let n = 0; n < 6; n++) expect(await sendSample(url, { sender })).toMatchObject({ error: null });
    expect(served).toBe(6);
  });
});

describe("the answer to a delivery", () => {
  it.each([200, 201, 202, 204, 299])("is a success with status %i", async (status) => {
    const receiver = await startReceiver({ answer: (response) => response.writeHead(status).end() });
    expect(await sendSample(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ status, error: null });
  });

  it.each([400, 401, 404, 410, 429, 500, 503])("is a failure with status %i", async (status) => {
    const receiver = await startReceiver({ answer: (response) => response.writeHead(status).end("no") });
    const result = await sendSample(`http://127.0.0.1:${receiver.port}/`);
    expect(result).toMatchObject({
      status,
      error: { code: "status", message: `Answered ${status}` },
      answer: "no",
    });
  });

  it.each([301, 302, 303, 307, 308])(
    "is a failure with redirect %i, which is not followed",
    async (status) => {
      const target = await startReceiver();
      const location = `http://127.0.0.1:${target.port}/`;
      const receiver = await startReceiver({
        answer: (response) => response.writeHead(status, { location }).end(),
      });
      const result = await sendSample(`http://127.0.0.1:${receiver.port}/`);
      expect(result).toMatchObject({ status, error: { code: "redirected" } });
      expect(target.connections()).toBe(0);
    },
  );

  it("is stored up to 2 KB, without waiting for the remaining body", async () => {
    const receiver = await startReceiver({
      // A multi-byte character crosses the limit, and the answer never ends.
      answer: (response) => response.writeHead(200).write(`${"x".repeat(2047)}ö${"y".repeat(50_000)}`),
    });
    const result = await sendSample(`http://127.0.0.1:${receiver.port}/`);
    expect(result).toMatchObject({ status: 200, error: null, answer: "x".repeat(2047) });
  });

  it("is stored without control characters and invalid bytes, still within 2 KB", async () => {
    const bytes = Buffer.concat([Buffer.from("\u001b[2Ja\u0000b\tc\n"), Buffer.alloc(2000, 0xff)]);
    const receiver = await startReceiver({ answer: (response) => response.writeHead(500).end(bytes) });
    const { answer } = await sendSample(`http://127.0.0.1:${receiver.port}/`);
    expect(answer.startsWith("\uFFFD[2Ja\uFFFDb\tc\n\uFFFD")).toBe(true);
    expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(2048);
  });

  it.each([
    [10, "whk_…2345whk_…2345"],
    [2000, "whk_…2345"],
    [2030, ""],
  ])("is stored without the key that it repeats after %i bytes", async (before, kept) => {
    const answers = `${"x".repeat(before)}${SAMPLE_KEY}${SAMPLE_KEY}`;
    const receiver = await startReceiver({ answer: (response) => response.writeHead(200).end(answers) });
    const { answer } = await sendSample(`http://127.0.0.1:${receiver.port}/`);
    expect(answer.slice(before)).toBe(kept);
  });

  it.each([
    ["seconds", "120", 120_000],
    ["more seconds than anybody waits", "99999999999", 99_999_999_999_000],
    ["a date", "Wed, 04 Mar 2026 05:07:07 GMT", 60_000],
    ["a past date", "Wed, 04 Mar 2026 05:00:00 GMT", 0],
    ["nonsense", "soon", null],
    ["a negative number", "-5", null],
  ])("gives the time of the next attempt in Retry-After, as %s", async (_, header, expected) => {
    const receiver = await startReceiver({
      answer: (response) => response.writeHead(503, { "retry-after": header }).end(),
    });
    const now = () => Date.parse("2026-03-04T05:06:07.000Z");
    const result = await sendSample(`http://127.0.0.1:${receiver.port}/`, { now });
    expect(result.retryAfterMs).toBe(expected);
  });
});
