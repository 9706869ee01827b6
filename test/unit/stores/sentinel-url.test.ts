// How REDIS_URL names a socket or sentinels.
import { describe, expect, it } from "vitest";
import { redisAddress } from "../../../src/stores/connections/sentinel-url.ts";

describe("an address of Redis", () => {
  it.each(["redis://host:6379", "rediss://:secret@host:6380/1", "redis://host?family=6"])(
    "%s is left to the driver",
    (url) => expect(redisAddress(url)).toBe(url),
  );

  it.each([
    ["unix:///var/run/redis.sock", { path: "/var/run/redis.sock", db: 0 }],
    [
      "unix://me:p%40ss@/tmp/a%20b.sock?db=3",
      { username: "me", password: "p@ss", path: "/tmp/a b.sock", db: 3 },
    ],
    ["unix://:secret@/r.sock", { password: "secret", path: "/r.sock", db: 0 }],
  ])("%s is a socket", (url, address) => expect(redisAddress(url)).toEqual(address));

  it.each([
    [
      "redis+sentinel://one:26380,two,[::1]:5000,[2001:db8::1]/mymaster",
      {
        sentinels: [
          { host: "one", port: 26_380 },
          { host: "two", port: 26_379 },
          { host: "::1", port: 5000 },
          { host: "2001:db8::1", port: 26_379 },
        ],
        ...{ name: "mymaster", db: 0 },
      },
    ],
    [
      "redis+sentinel://me:p%2Css@10.0.0.1/main%2Fone/2?sentinel_username=s&sentinel_password=a%26b",
      {
        ...{ username: "me", password: "p,ss", sentinels: [{ host: "10.0.0.1", port: 26_379 }] },
        ...{ name: "main/one", db: 2, sentinelUsername: "s", sentinelPassword: "a&b" },
      },
    ],
    [
      "rediss+sentinel://:secret@one/mymaster/0",
      {
        ...{ password: "secret", sentinels: [{ host: "one", port: 26_379 }], name: "mymaster", db: 0 },
        ...{ tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true },
      },
    ],
  ])("%s is a list of sentinels", (url, address) => expect(redisAddress(url)).toEqual(address));

  it.each([
    ...["", "redis://", "host:6379", "/tmp/redis.sock", "http://host"],
    ...["unix://", "unix://host/redis.sock", "unix:///r.sock?db=x", "unix:///r.sock?dbs=1", "unix:///%zz"],
    ...["redis+sentinel://one", "redis+sentinel://one/", "redis+sentinel:///mymaster"],
    ...["redis+sentinel://one,,two/mymaster", "redis+sentinel://one:0/m", "redis+sentinel://one:65536/m"],
    ...["redis+sentinel://one/m/x", "redis+sentinel://one/m/0/1", "redis+sentinel://secret@one/m"],
    ...["redis+sentinel://one/m?role=slave", "redis+sentinel://one/%zz", "redis+sentinel://::1/m"],
  ])("'%s' is none", (url) => expect(redisAddress(url)).toBeUndefined());
});
