// A real store, or another port, with some methods replaced: what doubles that fail, delay or count are made of.
/** The other methods may be taken off it. */
export function storeWith<S extends object>(store: S, own: Partial<S>): S {
  return new Proxy(store, {
    get(target, name) {
      const method = own[name as keyof S] ?? target[name as keyof S];
      return typeof method === "function" ? method.bind(own[name as keyof S] ? own : target) : method;
    },
  });
}
