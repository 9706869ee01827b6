// What becomes of EVENTSTORE_URL: servers, credentials, and never a line that repeats it.
import { describe, expect, it } from "vitest";
import { Servers } from "../../../src/stores/event-store/eventstoredb/connection.ts";

describe("a connection string of the event store", () => {
  it.each([
    ["esdb://a", 1],
    ["esdb://a:2113?tls=false", 1],
    ["kurrentdb://a:2113,b:2114,c", 3],
    ["esdb+discover://user:password@cluster:2113/?tls=true", 1],
    ["kurrentdb+discover://cluster", 1],
    ["esdb://a,b?Keep-Alive-Interval=20000&connection_name=x&nodePreference=leader", 2],
  ])("%s names its servers, one after the other and round again", (text, count) => {
    const servers = new Servers(text);
    const seen = new Set<unknown>();
    for (let n = 0; n < 5; n += 1) {
      seen.add(servers.current);
      servers.leave(servers.current);
    }
    expect(seen.size).toBe(count);
  });

  it.each([
    ["esdb://root:hush@a:2113", "root", "hush"],
    ["esdb://u:p:q@a", "u", "p:q"],
    ["esdb://u:p%40%2F%3A@a:1,b:2?tls=false", "u", "p@/:"],
    ["esdb://u:p?x&y=1@a:1?tls=true", "u", "p?x&y=1"],
  ])("%s has its credentials, also for appends", (text, username, password) => {
    expect(new Servers(text).credentials).toEqual({ username, password });
  });

  it("has credentials for appends also when it names none", () => {
    expect(new Servers("esdb://a?tls=false").credentials.username).not.toBe("");
  });

  it.each([
    "mysql://root:hush@a",
    "esdb://",
    "esdb://root:hush@a:port",
    "esdb://root:hush@a?tls",
    "esdb://root:hush@a?tls=maybe",
    "esdb://root:hush%@a",
    "esdb://root:hush@a?keepAliveInterval=soon",
    "esdb://root:hush@a,,b",
    "esdb://root:hush@a?tlsCAFile=/nowhere/hush.crt",
  ])("is refused in one line that does not repeat it: %s", (text) => {
    expect(() => new Servers(text)).toThrow(/^Not a connection string such as esdb:(?!.*hush).*$/);
  });

  it("says of a certificate that it is missing", () => {
    expect(() => new Servers("esdb://a?tlsCAFile=/nowhere/ca.crt")).toThrow(/certificate file/);
  });
});
