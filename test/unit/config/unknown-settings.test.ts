// A variable that was meant as a setting is told, with the setting that it was meant to be; those of others are not.
import fc from "fast-check";
import { expect, it } from "vitest";
import { SETTINGS } from "../../../src/config/settings.ts";
import { unknownSettings } from "../../../src/config/unknown-settings.ts";

const KNOWN = Object.values(SETTINGS).map(({ variable }) => variable);

it.each([
  ["SIGNUP", "SIGN_UP"],
  ["CLICK_DURABILTY", "CLICK_DURABILITY"],
  ["LINKLEDGER_SIGN_UP", "SIGN_UP"],
  ["LINKLEDGER_PORT", "PORT"],
  ["MONGO_URL", "MONGODB_URL"],
  ["TRUSTED_PROXY", "TRUST_PROXY"],
  ["sign_up", "SIGN_UP"],
])("says that %s is no setting, and %s is meant", (name, meant) => {
  expect(unknownSettings({ [name]: "1" })).toEqual([
    `${name} is no setting and has no effect: is ${meant} meant?`,
  ]);
});

it("tells what begins with our name, whatever it is like", () => {
  expect(unknownSettings({ LINKLEDGER_COLOURS: "1" })).toEqual([
    expect.stringMatching(/see docs.settings.md/),
  ]);
});

it("says nothing of settings, of what shells and platforms set, and of other programs", () => {
  const others =
    "HOME PATH USER LOGNAME HOSTNAME SHELL PWD LANG TERM NODE_ENV NODE_OPTIONS REDIS_HOST REDIS_PORT";
  const platform = {
    ...{ LINKLEDGER_SERVICE_HOST: "10.0.0.1", LINKLEDGER_SERVICE_PORT: "80" },
    ...{ LINKLEDGER_PORT: "tcp://10.0.0.1:80", LINKLEDGER_PORT_80_TCP_ADDR: "10.0.0.1" },
  };
  const named = [...KNOWN, ...others.split(" ")].map((name) => [name, "x"]);
  expect(unknownSettings({ ...Object.fromEntries(named), ...platform })).toEqual([]);
});

it("finds the setting that a long name with one wrong, missing or doubled letter was meant to be", () => {
  const long = KNOWN.filter((name) => name.length >= 10);
  fc.assert(
    fc.property(
      fc.constantFrom(...long),
      fc.nat(),
      fc.constantFrom("", "X", "double"),
      (name, at, change) => {
        const n = at % name.length;
        const letter = change === "double" ? `${name[n]}${name[n]}` : change;
        const typed = name.slice(0, n) + letter + name.slice(n + 1);
        fc.pre(!KNOWN.includes(typed as (typeof KNOWN)[number]));
        expect(unknownSettings({ [typed]: "1" })).toEqual([expect.stringContaining(`is ${name} meant?`)]);
      },
    ),
  );
});
