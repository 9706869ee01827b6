// Stream names and event ids, which are storage contracts.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  accountStream,
  clickStream,
  domainStream,
  linkKey,
  linkStream,
  withdrawalStream,
} from "../../../src/events/streams.ts";
import { timeOrderedId } from "../../../src/runtime/time-ordered-id.ts";

describe("stream names", () => {
  it("start with their category", () => {
    expect(accountStream("7d3f")).toBe("account-7d3f");
    expect(domainStream("go.example.com")).toBe("domain-go.example.com");
    expect(linkStream("localhost", "k7m2xqp")).toBe("link-localhost/k7m2xqp");
    expect(withdrawalStream("localhost/k7m2xqp")).toBe("withdrawals-localhost/k7m2xqp");
  });

  it("give one link one name however its slug is spelled", () => {
    expect(linkKey("Go.Example.com", "Launch-Day")).toBe("go.example.com/launch-day");
    expect(linkStream("Go.Example.com", "LAUNCH-day")).toBe(linkStream("go.example.com", "launch-day"));
  });

  it("give every writer a stream of clicks for each UTC day", () => {
    expect(clickStream("w1", new Date("2026-03-01T23:59:59.999Z"))).toBe("clicks-w1-20260301");
    expect(clickStream("w1", new Date("2026-03-02T00:00:00.000Z"))).toBe("clicks-w1-20260302");
  });
});

describe("time-ordered ids", () => {
  const low = "0".repeat(20);
  const high = "f".repeat(20);

  it("are UUIDs of version 7", () => {
    const at = 0x017f22e279b0;
    expect(timeOrderedId(at, low)).toBe("017f22e2-79b0-7000-8000-000000000000");
    expect(timeOrderedId(at, high)).toBe("017f22e2-79b0-7fff-bfff-ffffffffffff");
    expect(z.uuidv7().safeParse(timeOrderedId(at, high)).success).toBe(true);
  });

  it("refuse what is not 20 lower-case hex digits", () => {
    expect(() => timeOrderedId(0, "f".repeat(19))).toThrow(RangeError);
    expect(() => timeOrderedId(0, "F".repeat(20))).toThrow(RangeError);
  });

  it("sort by time", () => {
    const at = Date.parse("2026-03-01T10:00:00.000Z");
    expect(timeOrderedId(at, high) < timeOrderedId(at + 1, low)).toBe(true);
  });
});
