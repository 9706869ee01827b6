// The load generator of the benchmarks: what it counts is what a server was asked and answered.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { LoadOrder } from "../../../bench/load/load.ts";
import { LoadRun } from "../../../bench/load/load-run.ts";

/** The run's result, and the requests that the server has seen. */
async function load(order: Partial<LoadOrder>, answer: RequestListener) {
  const seen: { url: string; headers: Record<string, unknown> }[] = [];
  const server = createServer((request, response) => {
    seen.push({ url: request.url ?? "", headers: request.headers });
    answer(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const run = new LoadRun({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    traffic: { kind: "visits", links: 50, draw: "zipf" },
    ...{ expect: 301, connections: 4, seconds: 60, amount: 200, seed: 1, ...order },
  });
  return { result: await run.finished(), slugs: run.slugs, seen };
}

const redirect: RequestListener = (_request, response) =>
  void response.writeHead(301, { location: "https://example.com/", "content-length": 0 }).end();

describe("the load generator of the benchmarks", () => {
  it("sends the ordered amount and counts every answer once", async () => {
    const { result, seen } = await load({}, redirect);
    expect(result).toMatchObject({ answered: 200, other: 0, errors: 0 });
    expect(seen).toHaveLength(200);
    expect(seen.every(({ url }) => /^\/b0000[0-4]\d$/.test(url))).toBe(true);
    expect(new Set(seen.map(({ headers }) => headers["x-forwarded-for"])).size).toBeGreaterThan(150);
  });

  it("keeps to a rate", async () => {
    const { result } = await load({ amount: 50, rate: 500 }, redirect);
    expect(result.answered).toBe(50);
    expect(result.rate).toBeLessThan(600);
  });

  it("tells answers that were not expected, and requests without an answer", async () => {
    let asked = 0;
    const { result, seen } = await load({ amount: 40 }, (request, response) => {
      asked += 1;
      if (asked % 4 === 0) request.socket.destroy();
      else if (asked % 4 === 1) response.writeHead(503, { "content-length": 0 }).end();
      else redirect(request, response);
    });
    expect(result).toMatchObject({ answered: 20, other: 10, errors: 10 });
    expect(seen).toHaveLength(40);
  });

  it("keeps the slugs of created links", async () => {
    let created = 0;
    const { slugs } = await load(
      { amount: 3, expect: 201, traffic: { kind: "creations", keys: ["a"] }, keepSlugs: "in memory here" },
      (_request, response) => {
        const body = JSON.stringify({ slug: `s${created++}` });
        response.writeHead(201, { "content-length": body.length }).end(body);
      },
    );
    expect(slugs.sort()).toEqual(["s0", "s1", "s2"]);
  });
});
