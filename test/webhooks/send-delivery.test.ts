// One attempt against real receivers: what goes over the wire, and what every kind of answer becomes.
import { createServer } from "node:net";
import { Webhook } from "standardwebhooks";
import type { Dispatcher } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { samplePayload } from "../../src/webhooks/click-payload.ts";
import { receiverResolver } from "../../src/webhooks/resolve-receiver.ts";
import { type SafeAgentDeps, safeAgent } from "../../src/webhooks/safe-connector.ts";
import { type SendDeliveryDeps, sendDelivery } from "../../src/webhooks/send-delivery.ts";
import { signingSecret } from "../../src/webhooks/sign.ts";
import { startDns } from "../support/loopback-dns.ts";
import { certificateFor, makeAuthority } from "../support/test-certificates.ts";
import { startReceiver } from "../support/webhook-receiver.ts";

const KEY = "whk_abcdefghijklmnopqrstuvwxyz012345";
const OLD_KEY = "whk_543210zyxwvutsrqponmlkjihgfedcba";
const ID = "0195a1b2-0000-7000-8000-000000000001";
const body = samplePayload("https://go.example", Date.parse("2026-03-04T05:06:07.890Z"));

describe("a delivery", () => {
  it("is a POST with exactly the headers and the body of the interface", async () => {
    const receiver = await startReceiver();
    const before = Date.now();
    const result = await send(`http://127.0.0.1:${receiver.port}/hooks/clicks?team=a%20b`);
    expect(result).toMatchObject({
      status: 200,
      error: null,
      answer: '{"received":true}',
      retryAfterMs: null,
    });

    const [request] = receiver.received;
    expect(request?.method).toBe("POST");
    expect(request?.path).toBe("/hooks/clicks?team=a%20b");
    expect(request?.body.equals(body)).toBe(true);
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
      "x-api-key": KEY,
      "x-webhook-event": "link.clicked",
      "content-type": "application/json",
      "user-agent": "service-webhooks/2.0",
      "content-length": String(body.byteLength),
      "webhook-id": ID,
    });
    const sentAt = String(request?.headers["x-webhook-timestamp"]);
    expect(new Date(sentAt).toISOString()).toBe(sentAt);
    expect(Date.parse(sentAt)).toBeGreaterThanOrEqual(before);
    expect(request?.headers["webhook-timestamp"]).toBe(String(Math.floor(Date.parse(sentAt) / 1000)));
    expect(result.at).toBe(sentAt);
    const verified = new Webhook(signingSecret(KEY)).verify(
      String(request?.body),
      request?.headers as Record<string, string>,
    );
    expect(verified).toMatchObject({ event: "link.clicked", timestamp: "2026-03-04T05:06:07.890Z" });
  });

  it("says the current key in X-API-Key and is signed with the previous one too during rotation", async () => {
    const receiver = await startReceiver();
    await send(`http://127.0.0.1:${receiver.port}/`, {}, { previousKey: OLD_KEY });
    const [request] = receiver.received;
    expect(request?.headers["x-api-key"]).toBe(KEY);
    for (const key of [KEY, OLD_KEY])
      expect(() =>
        new Webhook(signingSecret(key)).verify(
          String(request?.body),
          request?.headers as Record<string, string>,
        ),
      ).not.toThrow();
  });

  it("keeps the key out of what is logged", async () => {
    const receiver = await startReceiver();
    const result = await send(`http://127.0.0.1:${receiver.port}/`);
    expect(JSON.stringify(result)).not.toContain(KEY.slice(4, -4));
    expect(result.requestHeaders).toMatchObject({
      "X-API-Key": "whk_…2345",
      "User-Agent": "service-webhooks/2.0",
    });
  });

  it("uses a connection again", async () => {
    const receiver = await startReceiver();
    const dispatcher = agent();
    for (let n = 0; n < 20; n++) await send(`http://127.0.0.1:${receiver.port}/${n}`, { dispatcher });
    expect(receiver.received).toHaveLength(20);
    // A connection is not free at once when its answer has ended, so two take turns.
    expect(receiver.connections()).toBeLessThanOrEqual(2);
  });
});

describe("the answer to a delivery", () => {
  it.each([200, 201, 202, 204, 299])("is a success with status %i", async (status) => {
    const receiver = await startReceiver({ answer: (response) => response.writeHead(status).end() });
    expect(await send(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ status, error: null });
  });

  it.each([400, 401, 404, 410, 429, 500, 503])("is a failure with status %i", async (status) => {
    const receiver = await startReceiver({ answer: (response) => response.writeHead(status).end("no") });
    const result = await send(`http://127.0.0.1:${receiver.port}/`);
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
      const result = await send(`http://127.0.0.1:${receiver.port}/`);
      expect(result).toMatchObject({ status, error: { code: "redirected" } });
      expect(target.connections()).toBe(0);
    },
  );

  it("is kept to 2 KB, and what follows is never waited for", async () => {
    const receiver = await startReceiver({
      // A multi-byte character lies across the cut, and the answer never ends.
      answer: (response) => response.writeHead(200).write(`${"x".repeat(2047)}ö${"y".repeat(50_000)}`),
    });
    const result = await send(`http://127.0.0.1:${receiver.port}/`);
    expect(result).toMatchObject({ status: 200, error: null, answer: "x".repeat(2047) });
  });

  it("is kept without control characters and invalid bytes, still within 2 KB", async () => {
    const bytes = Buffer.concat([Buffer.from("\u001b[2Ja\u0000b\tc\n"), Buffer.alloc(2000, 0xff)]);
    const receiver = await startReceiver({ answer: (response) => response.writeHead(500).end(bytes) });
    const { answer } = await send(`http://127.0.0.1:${receiver.port}/`);
    expect(answer.startsWith("\uFFFD[2Ja\uFFFDb\tc\n\uFFFD")).toBe(true);
    expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(2048);
  });

  it.each([
    ["seconds", "120", 120_000],
    ["a date", "Wed, 04 Mar 2026 05:07:07 GMT", 60_000],
    ["a date gone by", "Wed, 04 Mar 2026 05:00:00 GMT", 0],
    ["nonsense", "soon", null],
    ["a negative number", "-5", null],
  ])("says when to come back, as %s", async (_, header, expected) => {
    const receiver = await startReceiver({
      answer: (response) => response.writeHead(503, { "retry-after": header }).end(),
    });
    const now = () => Date.parse("2026-03-04T05:06:07.000Z");
    const result = await send(`http://127.0.0.1:${receiver.port}/`, { now });
    expect(result.retryAfterMs).toBe(expected);
  });
});

describe("a delivery that gets no answer", () => {
  it("is given up when the time is over before the headers", async () => {
    const receiver = await startReceiver({ answer: () => {} });
    const result = await send(`http://127.0.0.1:${receiver.port}/`, { timeoutMs: 300 });
    expect(result).toMatchObject({
      status: null,
      error: { code: "timeout", message: "No answer within 0.3 s" },
    });
    expect(result.durationMs).toBeGreaterThanOrEqual(290);
  });

  it("is not held by a receiver that drips its answer: the status counts, the rest is left", async () => {
    const receiver = await startReceiver({
      answer: (response) => {
        response.writeHead(200);
        const drip = setInterval(() => response.write("."), 20);
        response.on("close", () => clearInterval(drip));
      },
    });
    const result = await send(`http://127.0.0.1:${receiver.port}/`, { timeoutMs: 400 });
    expect(result).toMatchObject({ status: 200, error: null });
    expect(result.answer).toMatch(/^\.+$/);
    expect(result.durationMs).toBeLessThan(3000);
  });

  it("says that nobody listens", async () => {
    const port = await closedPort();
    const result = await send(`http://127.0.0.1:${port}/`);
    expect(result).toMatchObject({ status: null, error: { code: "connect_failed" } });
    expect(result.error?.message).toContain("ECONNREFUSED");
  });

  it("says that the connection was closed", async () => {
    const port = await rawServer("");
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ error: { code: "connection_lost" } });
  });

  it("says that the answer is not HTTP", async () => {
    const port = await rawServer("220 mail.example ESMTP\r\n");
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ error: { code: "bad_answer" } });
  });

  it("says that the name does not exist", async () => {
    const dns = await startDns(() => undefined);
    const resolve = receiverResolver([dns.server]);
    const result = await send("https://no-such-name.example/", { dispatcher: agent({ resolve }) });
    expect(result.error).toEqual({
      code: "dns_failed",
      message: "no-such-name.example does not exist in the DNS",
    });
  });
});

describe("a delivery over TLS", () => {
  const authority = makeAuthority();

  it("reaches the receiver by name: server name, certificate and Host are the URL's", async () => {
    const { result, receiver, port } = await sendOverTls(["hooks.example"]);
    expect(result).toMatchObject({ status: 200, error: null });
    expect(receiver.received[0]?.headers.host).toBe(`hooks.example:${port}`);
  });

  it("is refused when the certificate is for another name", async () => {
    const { result, receiver } = await sendOverTls(["other.example"]);
    expect(result.error).toEqual({
      code: "tls_failed",
      message: "The receiver's certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID)",
    });
    expect(receiver.received).toEqual([]);
  });

  it("is refused when the certificate has expired", async () => {
    const { result } = await sendOverTls(["hooks.example"], { daysLeft: -2 });
    expect(result.error).toMatchObject({
      code: "tls_failed",
      message: expect.stringContaining("has expired"),
    });
  });

  it("is refused when nobody trusted has signed the certificate", async () => {
    const { result } = await sendOverTls(["hooks.example"], { ca: makeAuthority("Another").cert });
    expect(result.error).toMatchObject({
      code: "tls_failed",
      message: expect.stringContaining("not trusted"),
    });
  });

  it("says so when the receiver does not speak TLS", async () => {
    const receiver = await startReceiver();
    const result = await send(`https://127.0.0.1:${receiver.port}/`);
    expect(result.error?.code).toBe("tls_failed");
  });

  async function sendOverTls(names: string[], { daysLeft = 1, ca = authority.cert } = {}) {
    const receiver = await startReceiver({ tls: certificateFor(authority, names, daysLeft) });
    const dns = await startDns(() => [{ a: "127.0.0.1" }]);
    const resolve = receiverResolver([dns.server]);
    const result = await send(`https://hooks.example:${receiver.port}/`, {
      dispatcher: agent({ resolve, ca }),
    });
    return { result, receiver, port: receiver.port };
  }
});

function send(url: string, deps: Partial<SendDeliveryDeps> = {}, delivery: { previousKey?: string } = {}) {
  return sendDelivery(
    { dispatcher: deps.dispatcher ?? agent(), allowPrivate: true, now: Date.now, ...deps },
    { url, key: KEY, id: ID, body, event: "link.clicked", ...delivery },
  );
}

function agent(deps: Partial<SafeAgentDeps> = {}): Dispatcher {
  const dispatcher = safeAgent({ allowPrivate: true, resolve: receiverResolver([]), ...deps });
  onTestFinished(() => dispatcher.destroy());
  return dispatcher;
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}

/** Says `text` to whoever has sent something, and closes. */
async function rawServer(text: string): Promise<number> {
  const server = createServer((socket) => socket.once("data", () => socket.end(text)));
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}
