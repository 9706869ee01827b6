// Real secrets with some operations replaced, for tests that fail or delay one.
import type { Secrets } from "../../../src/secrets/port.ts";

export function secretsBut(secrets: Secrets, changed: Partial<Secrets>): Secrets {
  return {
    get: (key, now) => secrets.get(key, now),
    list: (prefix, now) => secrets.list(prefix, now),
    putIfAbsent: (key, record, now) => secrets.putIfAbsent(key, record, now),
    putIfPresent: (key, record, now) => secrets.putIfPresent(key, record, now),
    put: (key, record) => secrets.put(key, record),
    delete: (key) => secrets.delete(key),
    take: (key, now) => secrets.take(key, now),
    sweep: (now) => secrets.sweep(now),
    close: () => secrets.close(),
    ...changed,
  };
}
