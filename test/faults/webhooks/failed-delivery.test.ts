// Failed connections, time-outs and TLS errors: each failure names what the receiver's owner has to repair.
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { receiverResolver } from "../../../src/webhooks/receiver/resolve-receiver.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { startDns } from "../../support/servers/loopback-dns.ts";
import { certificateFor, makeAuthority } from "../../support/servers/test-certificates.ts";
import { sendSample } from "../../support/webhooks/send-sample.ts";
import { startReceiver } from "../../support/webhooks/webhook-receiver.ts";

describe("a delivery that gets no answer", () => {
  it("times out when no headers arrive in time", async () => {
    const receiver = await startReceiver({ answer: () => {} });
    const result = await sendSample(`http://127.0.0.1:${receiver.port}/`, { timeoutMs: 300 });
    expect(result).toMatchObject({
      status: null,
      error: { code: "timeout", message: "No answer within 0.3 s" },
    });
    expect(result.durationMs).toBeGreaterThanOrEqual(290);
  });

  it("ends at its time limit when a receiver drips its answer: the status counts, the remaining body is ignored", async () => {
    const receiver = await startReceiver({
      answer: (response) => {
        response.writeHead(200);
        const drip = setInterval(() => response.write("."), 20);
        response.on("close", () => clearInterval(drip));
      },
    });
    const result = await sendSample(`http://127.0.0.1:${receiver.port}/`, { timeoutMs: 400 });
    expect(result).toMatchObject({ status: 200, error: null });
    expect(result.answer).toMatch(/^\.+$/);
    expect(result.durationMs).toBeLessThan(3000);
  });

  it("reports a refused connection", async () => {
    const result = await sendSample(`http://127.0.0.1:${await freePort()}/`);
    expect(result).toMatchObject({ status: null, error: { code: "connect_failed" } });
    expect(result.error?.message).toContain("ECONNREFUSED");
  });

  it("reports a closed connection", async () => {
    const port = await rawServer("");
    expect(await sendSample(`http://127.0.0.1:${port}/`)).toMatchObject({
      error: { code: "connection_lost" },
    });
  });

  it("reports an answer that is not HTTP", async () => {
    const port = await rawServer("220 mail.example ESMTP\r\n");
    expect(await sendSample(`http://127.0.0.1:${port}/`)).toMatchObject({ error: { code: "bad_answer" } });
  });

  it("passes 100 Continue and other interim answers, which nobody asked for, and counts the final one", async () => {
    const interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
    const port = await rawServer(`${interim}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`);
    expect(await sendSample(`http://127.0.0.1:${port}/`)).toMatchObject({
      ...{ status: 200, error: null, answer: "ok" },
    });
  });

  it("reports a switch of protocols", async () => {
    const port = await rawServer(
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    );
    expect(await sendSample(`http://127.0.0.1:${port}/`)).toMatchObject({
      error: { code: "bad_answer", message: "The receiver answered 101, which nobody asked for" },
    });
  });

  it("reports a name that does not exist", async () => {
    const dns = await startDns(() => undefined);
    const resolve = receiverResolver([dns.server]);
    const result = await sendSample("https://no-such-name.example/", { resolve });
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

  it("is refused when the certificate was not signed by a trusted authority", async () => {
    const { result } = await sendOverTls(["hooks.example"], { ca: makeAuthority("Another").cert });
    expect(result.error).toMatchObject({
      code: "tls_failed",
      message: expect.stringContaining("not trusted"),
    });
  });

  it("reports a receiver that does not speak TLS", async () => {
    const receiver = await startReceiver();
    const result = await sendSample(`https://127.0.0.1:${receiver.port}/`);
    expect(result.error?.code).toBe("tls_failed");
  });

  async function sendOverTls(names: string[], { daysLeft = 1, ca = authority.cert } = {}) {
    const receiver = await startReceiver({ tls: certificateFor(authority, names, daysLeft) });
    const dns = await startDns(() => [{ a: "127.0.0.1" }]);
    const resolve = receiverResolver([dns.server]);
    const result = await sendSample(`https://hooks.example:${receiver.port}/`, { resolve, ca });
    return { result, receiver, port: receiver.port };
  }
});

/** Answers every request with `text` and closes the connection. */
async function rawServer(text: string): Promise<number> {
  const server = createServer((socket) => socket.once("data", () => socket.end(text)));
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}
