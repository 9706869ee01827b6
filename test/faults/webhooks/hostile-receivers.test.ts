// SSRF protection: hostile URLs and hostile DNS answers never lead to a connection.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { DeliverySender } from "../../../src/webhooks/delivery/send-delivery.ts";
import { receiverResolver } from "../../../src/webhooks/receiver/resolve-receiver.ts";
import { safeAgents } from "../../../src/webhooks/receiver/safe-agents.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { startDns, type Zone } from "../../support/servers/loopback-dns.ts";
import { sendSample, testSender } from "../../support/webhooks/send-sample.ts";
import { startReceiver } from "../../support/webhooks/webhook-receiver.ts";
import { HOSTILE_URLS } from "./hostile-urls.ts";

/** Global unicast by its prefix, but returned to IANA in 2006 (6bone) and not routed. */
const PUBLIC = "3ffe::1";

describe("a hostile URL", () => {
  it.each(HOSTILE_URLS)("%j is refused with %s and nothing connects", async (template, code) => {
    const { port, connections } = await startReceiver();
    const result = await send(template.replaceAll("PORT", String(port)));
    expect(result).toMatchObject({ status: null, answer: "", error: { code, message: expect.any(String) } });
    expect(connections()).toBe(0);
  });

  it.each(HOSTILE_URLS.filter(([url, code]) => code === "address_refused" && url.includes("//")))(
    "%j is refused by the connector alone, too, over http and https",
    async (template) => {
      const { port, connections } = await startReceiver();
      const agents = safeAgents({ allowPrivate: false, resolve: receiverResolver([]) });
      onTestFinished(agents.destroy);
      const { origin } = new URL(template.replaceAll("PORT", String(port)));
      for (const connect of [
        () => httpsRequest(origin, { agent: agents.https }),
        () => httpRequest(origin.replace("https:", "http:"), { agent: agents.http }),
      ]) {
        const [error] = await once(connect(), "error");
        expect(error).toMatchObject({ code: "address_refused" });
      }
      expect(connections()).toBe(0);
    },
  );

  it("stays refused with WEBHOOK_ALLOW_PRIVATE outside the private ranges", async () => {
    const never = ["169.254.169.254", "[fd00:ec2::254]", "169.254.1.1", "0.0.0.0", "[::]", "224.0.0.1"];
    for (const host of [
      ...never,
      "255.255.255.255",
      "[::ffff:127.0.0.1]",
      "[64:ff9b::7f00:1]",
      "[fe80::1]",
    ]) {
      const result = await send(`http://${host}/`, { allowPrivate: true });
      expect(result.error?.code, host).toBe("address_refused");
    }
  });
});

describe("a hostile name server", () => {
  const only =
    (answers: ReturnType<Zone>): Zone =>
    () =>
      answers;
  const HOSTILE_ANSWERS: readonly [what: string, zone: Zone, leadsTo: string][] = [
    ["loopback", only([{ a: "127.0.0.1" }]), "127.0.0.1"],
    ["another loopback address", only([{ a: "127.8.8.8" }]), "127.8.8.8"],
    ["IPv6 loopback", only([{ aaaa: "::1" }]), "::1"],
    ["unspecified", only([{ a: "0.0.0.0" }]), "0.0.0.0"],
    ["a private network", only([{ a: "10.1.2.3" }]), "10.1.2.3"],
    ["a unique local network", only([{ aaaa: "fd00::1" }]), "fd00::1"],
    ["cloud metadata", only([{ a: "169.254.169.254" }]), "169.254.169.254"],
    ["IPv6 cloud metadata", only([{ aaaa: "fd00:ec2::254" }]), "fd00:ec2::254"],
    ["an IPv4-mapped address", only([{ aaaa: "::ffff:7f00:1" }]), "127.0.0.1"],
    ["a NAT64 address", only([{ aaaa: "64:ff9b::7f00:1" }]), "64:ff9b::7f00:1"],
    ["a 6to4 address", only([{ aaaa: "2002:7f00:1::" }]), "2002:7f00:1::"],
    ["public and private together", only([{ aaaa: PUBLIC }, { a: "127.0.0.1" }]), "127.0.0.1"],
    ["private after public", only([{ a: "93.184.216.34" }, { a: "127.0.0.1" }]), "127.0.0.1"],
    [
      "an alias of an alias of loopback",
      (name) =>
        name === "hooks.example"
          ? [{ cname: "one.example" }]
          : name === "one.example"
            ? [{ cname: "two.example" }]
            : [{ a: "127.0.0.1" }],
      "127.0.0.1",
    ],
    ["an alias of localhost", only([{ cname: "localhost" }, { a: "127.0.0.1" }]), "127.0.0.1"],
  ];

  it.each(HOSTILE_ANSWERS)("that answers %s makes nothing connect", async (_, zone, leadsTo) => {
    const { port, connections } = await startReceiver();
    const dns = await startDns((name, query) => (name === "localhost" ? [] : zone(name, query)));
    const result = await send(`https://hooks.example:${port}/`, { dnsServers: [dns.server] });
    expect(result).toMatchObject({ status: null, error: { code: "address_refused" } });
    expect(result.error?.message).toContain("hooks.example leads to");
    expect(result.error?.message).toContain(leadsTo);
    expect(connections()).toBe(0);
  });

  it("that answers first public and then private addresses is queried per connection, and each answer is checked", async () => {
    const { port, connections } = await startReceiver();
    const dns = await startDns((_, query) => (query === 1 ? [{ aaaa: PUBLIC }] : [{ a: "127.0.0.1" }]));
    const options = { dnsServers: [dns.server], timeoutMs: 1000 };
    const first = await send(`https://hooks.example:${port}/`, options);
    expect(["connect_failed", "timeout"]).toContain(first.error?.code);
    expect(dns.queries.toSorted()).toEqual(["hooks.example A", "hooks.example AAAA"]);
    const second = await send(`https://hooks.example:${port}/`, options);
    expect(second.error).toMatchObject({ code: "address_refused" });
    expect(connections()).toBe(0);
  });

  it("that changes its answer cannot rebind: the connection uses the checked answer, one lookup per connection", async () => {
    const receiver = await startReceiver({
      answer: (response) => response.writeHead(200, { connection: "close" }).end(),
    });
    const dns = await startDns((_, query) => [{ a: query === 1 ? "127.0.0.1" : "169.254.169.254" }]);
    const sender = senderOf({ dnsServers: [dns.server], allowPrivate: true });
    const url = `http://hooks.example:${receiver.port}/`;
    expect(await send(url, { sender })).toMatchObject({ status: 200 });
    expect(dns.queries.filter((query) => query.endsWith(" A"))).toHaveLength(1);
    const second = await send(url, { sender });
    expect(second.error).toMatchObject({ code: "address_refused" });
    expect(receiver.connections()).toBe(1);
  });

  it("that does not answer delays a delivery at most by the attempt's time limit", async () => {
    const dns = await startDns((name) => {
      throw new Error(`no answer for ${name}`);
    });
    const result = await send("https://hooks.example/", { dnsServers: [dns.server], timeoutMs: 400 });
    expect(result.error?.code).toBe("timeout");
    expect(result.durationMs).toBeLessThan(3000);
  });

  it("is not queried for names of the hosts file, whose addresses are checked as well", async () => {
    const folder = await temporaryFolder();
    onTestFinished(folder.remove);
    const hostsFile = join(folder.path, "hosts");
    writeFileSync(hostsFile, "10.9.8.7  printer.example Printer # next door\n");
    const result = await send("https://PRINTER.example/", { hostsFile });
    expect(result.error?.message).toBe(
      "printer.example leads to 10.9.8.7, which is a private network and not reachable for webhooks",
    );
  });
});

describe("a hostile environment or receiver", () => {
  it.each(["http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:PORT/", "//127.0.0.1:PORT/"])(
    "that redirects to %s is not followed",
    async (location) => {
      const inside = await startReceiver();
      const receiver = await startReceiver({
        answer: (response) =>
          response.writeHead(302, { location: location.replace("PORT", String(inside.port)) }).end(),
      });
      const result = await send(`http://127.0.0.1:${receiver.port}/`, { allowPrivate: true });
      expect(result).toMatchObject({ status: 302, error: { code: "redirected" } });
      expect(receiver.received).toHaveLength(1);
      expect(inside.connections()).toBe(0);
    },
  );

  it("cannot make a proxy see a delivery", async () => {
    const proxy = await startReceiver();
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"])
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`);
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    onTestFinished(() => void vi.unstubAllEnvs());
    const receiver = await startReceiver();
    const result = await send(`http://127.0.0.1:${receiver.port}/`, { allowPrivate: true });
    expect(result.status).toBe(200);
    expect(proxy.connections()).toBe(0);
  });
});

type Options = {
  allowPrivate?: boolean;
  dnsServers?: readonly string[];
  hostsFile?: string;
  timeoutMs?: number;
};

function send(url: string, { sender, ...options }: Options & { sender?: DeliverySender } = {}) {
  return sendSample(url, { sender: sender ?? senderOf(options) });
}

function senderOf({ allowPrivate = false, timeoutMs = 10_000, dnsServers = [], hostsFile }: Options) {
  return testSender({ allowPrivate, timeoutMs, resolve: receiverResolver(dnsServers, hostsFile) });
}
