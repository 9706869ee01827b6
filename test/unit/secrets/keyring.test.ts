// The form of encrypted values, and which changes are detected.
import { describe, expect, it } from "vitest";
import { keyringOf } from "../../../src/stores/secrets/keyring.ts";
import { SecretDamaged } from "../../../src/stores/secrets/port.ts";

const SECRET = "a secret key of thirty-two characters";
const OTHER = "another secret key, also long enough";

describe("a keyring", () => {
  const ring = keyringOf(SECRET);

  it("seals a text as version, key id, nonce and ciphertext, never the same twice, and opens it again", () => {
    const sealed = ring.seal("email/1", "you@example.com");
    expect(sealed).toMatch(/^v1\.[\w-]{11}\.[\w-]{16}\.[\w-]+$/);
    expect(ring.seal("email/1", "you@example.com")).not.toBe(sealed);
    expect(ring.open("email/1", sealed)).toBe("you@example.com");
    expect(keyringOf(SECRET).open("email/1", sealed)).toBe("you@example.com");
    expect(ring.open("é", ring.seal("é", "ü"))).toBe("ü");
  });

  it("opens no value that was copied to another record, changed or cut", () => {
    const sealed = ring.seal("email/1", "you@example.com");
    expect(() => ring.open("email/2", sealed)).toThrow();
    const body = sealed.lastIndexOf(".") + 1;
    for (const at of [body, sealed.length - 3, sealed.length - 24]) {
      const changed = sealed.slice(0, at) + (sealed[at] === "A" ? "B" : "A") + sealed.slice(at + 1);
      expect(() => ring.open("email/1", changed)).toThrow();
    }
    expect(() => ring.open("email/1", sealed.slice(0, -4))).toThrow();
  });

  it("reports that another SECRET_KEY is needed, and opens the value with it as the previous one", () => {
    const sealed = keyringOf(OTHER).seal("email/1", "you@example.com");
    expect(() => ring.open("email/1", sealed)).toThrow(
      expect.objectContaining({ code: "secret_key_unknown" }),
    );
    const both = keyringOf(SECRET, OTHER);
    expect(both.open("email/1", sealed)).toBe("you@example.com");
    expect(both.isCurrent(sealed)).toBe(false);
    expect(both.isCurrent(both.seal("email/1", "x"))).toBe(true);
  });

  it("refuses a value that it has not sealed as damaged, never takes it for clear text", () => {
    for (const value of ["you@example.com", "v1.a.b.c", "", { key: "whk_" }, 0, null]) {
      expect(() => ring.open("a", value)).toThrow(SecretDamaged);
      expect(ring.isCurrent(value)).toBe(false);
    }
  });

  it("hashes a text differently under each key, and equally every time", () => {
    const [current, earlier] = keyringOf(SECRET, OTHER).hashes("digest");
    expect(current).toBe(ring.hashes("digest")[0]);
    expect(earlier).toBe(keyringOf(OTHER).hashes("digest")[0]);
    expect(earlier?.split(".")[1]).not.toBe(current.split(".")[1]);
    expect(keyringOf(SECRET, SECRET).hashes("digest")).toHaveLength(1);
  });
});
