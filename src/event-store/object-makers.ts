// Makes objects with given names of members from a literal, which V8 does five times as fast as member by member.

/** An object of the values, in the order of the names. */
export type ObjectMaker = (values: readonly unknown[]) => Record<string, unknown>;

export type MakerOf = (names: readonly string[]) => ObjectMaker;

/** Caches the makers by names; keep one for many batches, as V8 optimises each maker on its own. */
export function objectMakers(): MakerOf {
  const made = new Map<string, ObjectMaker>();
  return (names) => {
    const key = JSON.stringify(names);
    const known = made.get(key);
    if (known) return known;
    const members = names.map((name, n) => `${literalName(name)}: values[${n}]`);
    const maker = new Function("values", `return { ${members.join(", ")} };`) as ObjectMaker;
    made.set(key, maker);
    return maker;
  };
}

/** As the name of a member. Without brackets `__proto__` would set the prototype; with them V8 takes the slow path. */
export function literalName(name: string): string {
  return name === "__proto__" ? `["__proto__"]` : JSON.stringify(name);
}
