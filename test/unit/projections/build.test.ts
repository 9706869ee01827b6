// A projection as one of its builds.
import { expect, it } from "vitest";
import { asBuild } from "../../../src/projections/builds/build.ts";
import { clickProjections } from "../../../src/projections/groups.ts";

it.each(clickProjections)(
  "classifies a click of $name once, also where a build is made of that build",
  (of) => {
    const build = { version: of.version, build: 1, collection: "clicks_b1", rules: "other rules" };
    const built = asBuild(of, build);
    expect(built.evolve).not.toBe(of.evolve);
    expect(asBuild(built, build)).toEqual(built);
  },
);
