// The contract of the read store port, for every adapter: what is found, and in which order. Commits: read-store-commits.ts.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { documentPages } from "../../src/stores/read-store/document-pages.ts";
import type { CountQuery, Document, FindQuery, ReadStore } from "../../src/stores/read-store/port.ts";
import { readStoreCommits } from "./read-store-commits.ts";

/** `reopen`: a second, independent handle on the same data. */
export type ReadStoreFixture = {
  readStore: ReadStore;
  reopen(): Promise<ReadStore>;
  cleanUp(): Promise<void>;
};

type Note = Document & { owner: string | null; title: string; at: string; done: boolean; size: number };

const NOTES = { name: "notes", indexes: [["owner", "done", "at"], ["title"], ["owner", "size"]] } as const;
const ALL = { limit: 1_000 };

export function readStoreContract(name: string, open: () => Promise<ReadStoreFixture>) {
  readStoreCommits(name, open);

  describe(`searches of the read store: ${name}`, () => {
    let fixture: ReadStoreFixture;
    let store: ReadStore;

    beforeEach(async () => {
      fixture = await open();
      store = fixture.readStore;
      await store.ensure([NOTES]);
    });
    afterEach(async () => await fixture.cleanUp());

    it("finds nothing in a collection that does not exist", async () => {
      expect(await store.get("never-made", "x")).toBeUndefined();
      expect(await store.getMany("never-made", ["x"])).toEqual([]);
      expect(await store.find("never-made", { limit: 5 })).toEqual([]);
      expect(await store.count("never-made", {})).toBe(0);
    });

    it("returns a document unchanged, including unusual keys and texts", async () => {
      const odd = JSON.parse(
        '{"_id":"o","_position":"1","pairs":[["__proto__",1],["a.b",2],["$gt",3]],"text":"\\u0000\\ud83d\\ude00%_\'\\"","none":null,"shape":{"a.b":{"$gt":[]}},"numbers":[1.5,2],"texts":["a"],"empty":[]}',
      ) as Document;
      await put("notes", odd);
      expect(await store.get("notes", "o")).toEqual(odd);
      expect(await store.find("notes", ALL)).toEqual([odd]);
    });

    it("gets many by id: those that exist, each once", async () => {
      await put("notes", note("a"), note("b"));
      expect((await store.getMany("notes", ["b", "missing", "a", "a"])).map(idOf).sort()).toEqual(["a", "b"]);
      expect(await store.getMany("notes", [])).toEqual([]);
    });

    it("gets the wanted fields of many, whatever they hold", async () => {
      const shaped: object = { list: [[1, "a"], []], shape: { "a.b": null }, owner: null, size: 1.5 };
      await put("notes", note("a", shaped), note("b"));
      const found = await store.getMany("notes", ["a"], ["list", "shape", "owner", "size"]);
      expect(found).toMatchObject([{ _id: "a", _position: note("a")._position, ...shaped }]);
      expect(await store.getMany("notes", ["missing"], ["list"])).toEqual([]);
    });

    it("finds the wanted fields of documents, without what is nested", async () => {
      await put("notes", note("a", { size: 2, tags: ["x"], shape: { large: [] } } as object), note("b"));
      const found = await store.find<Note>("notes", { ...ALL, fields: ["size", "tags"], where: { size: 2 } });
      expect(found).toMatchObject([{ _id: "a", _position: note("a")._position, size: 2, tags: ["x"] }]);
      expect(found[0]).not.toHaveProperty("shape");
    });

    it("finds by equality on text, number, boolean and null", async () => {
      await put("notes", note("a", { done: true, size: 1 }), note("b", { size: 2 }));
      await put("notes", note("c", { owner: null, size: 1 }));
      expect(await ids({ where: { owner: "x" } })).toEqual(["a", "b"]);
      expect(await ids({ where: { owner: "x", done: false } })).toEqual(["b"]);
      expect(await ids({ where: { size: 1 } })).toEqual(["a", "c"]);
      expect(await ids({ where: { size: "1" } })).toEqual([]);
      expect(await ids({ where: { owner: null } })).toEqual(["c"]);
      expect(await ids({ where: { missing: null, _id: "b" } })).toEqual(["b"]);
    });

    it("treats values that look like operators or code as values", async () => {
      await put("notes", note("a"));
      const operator = { $gt: "" } as unknown as string;
      for (const value of ['{"$gt":""}', "x' OR '1'='1", "$ne", operator])
        expect(await ids({ where: { owner: value } })).toEqual([]);
      await put("notes", note("b", { owner: '{"$gt":""}' }));
      expect(await ids({ where: { owner: '{"$gt":""}' } })).toEqual(["b"]);
    });

    it("refuses names of collections and fields that are not plain", async () => {
      await expect(store.get("notes; DROP TABLE notes", "a")).rejects.toThrow(/^Not a name for/);
      const injected = { where: { "a') OR (1=1": 1 }, limit: 1 };
      await expect(store.find("notes", injected)).rejects.toThrow(/^Not a name for/);
    });

    it("bounds a range by its start inclusively and its end exclusively", async () => {
      await put("notes", ...["1", "2", "3", "4"].map((at) => note(at, { at })));
      expect(await ids({ range: { field: "at", from: "2", to: "4" } })).toEqual(["2", "3"]);
      expect(await ids({ range: { field: "at", from: "3" } })).toEqual(["3", "4"]);
      expect(await ids({ range: { field: "at", to: "2" } })).toEqual(["1"]);
    });

    it("finds all of several parts of a text, in their case, with %, _ and \\ taken literally", async () => {
      await put(
        "notes",
        note("a", { title: "100% sure" }),
        note("b", { title: "1000 sure snake_case ü" }),
        note("c", { title: "back\\slash snakeXcase\nsure" }),
        note("d", { title: "a.c(x)*[z]" }),
      );
      const containing = async (...texts: string[]) => await ids({ contains: { field: "title", texts } });
      expect(await containing("sure")).toEqual(["a", "b", "c"]);
      expect(await containing("sure", "000")).toEqual(["b"]);
      expect(await containing("ü", "snake")).toEqual(["b"]);
      expect(await containing("sure", "missing")).toEqual([]);
      expect(await containing()).toEqual(["a", "b", "c", "d"]);
      expect(await containing("SURE")).toEqual([]);
      expect(await containing("0%")).toEqual(["a"]);
      expect(await containing("e_c")).toEqual(["b"]);
      expect(await containing("k\\s")).toEqual(["c"]);
      expect(await containing(".*")).toEqual([]);
      expect(await containing("c(x)*[")).toEqual(["d"]);
      expect(await containing("sure\0")).toEqual([]);
      expect(await containing("\0")).toEqual([]);
    });

    it("finds by one of several texts, and by none of them, however many there are", async () => {
      await put("notes", note("a", { owner: "x" }), note("b", { owner: "y" }), note("c", { owner: null }));
      expect(await ids({ in: { owner: ["x", "z"] } })).toEqual(["a"]);
      expect(await ids({ in: { owner: [] } })).toEqual([]);
      expect(await ids({ notIn: { owner: ["x", "z"] } })).toEqual(["b", "c"]);
      expect(await ids({ notIn: { owner: [] } })).toEqual(["a", "b", "c"]);
      const many = Array.from({ length: 5_000 }, (_, n) => `n${n}`);
      expect(await ids({ in: { _id: [...many, "b"], owner: ["y"] } })).toEqual(["b"]);
      expect(await ids({ in: { _id: ["a", "b"] }, notIn: { _id: [...many, "b"] } })).toEqual(["a"]);
      const operator = { $gt: "" } as unknown as string;
      expect(await ids({ in: { owner: [operator] } })).toEqual([]);
      expect(await ids({ notIn: { owner: [operator] } })).toEqual(["a", "b", "c"]);
    });

    it("finds by an element of a list of texts, whole and in its case", async () => {
      const texts = ["a", "ab", "A", ",", '","', 'say "a"', "back\\slash", "%", "\u0000", "😀", "{}", "$a"];
      const tagged = (id: string, tags: unknown, more: Partial<Note> = {}) =>
        ({ ...note(id, more), tags }) as Document;
      await put("notes", ...texts.map((text, n) => tagged(`t${n}`, ["first", text])));
      await put("notes", tagged("two", ["b", "c"], { done: true }), tagged("none", []));
      await put("notes", tagged("null", null), note("without"));
      const having = async (element: string, query: Partial<FindQuery> = {}) => {
        const has = { field: "tags", element };
        const found = await ids({ ...query, has });
        expect(await store.count("notes", { ...query, has })).toBe(found.length);
        return found;
      };
      for (const [n, text] of texts.entries()) expect([text, await having(text)]).toEqual([text, [`t${n}`]]);
      const sort = { field: "at", direction: "desc" } as const;
      expect(await having("b", { where: { owner: "x", done: true }, sort })).toEqual(["two"]);
      expect(await having("first", { where: { owner: "x" }, sort })).toHaveLength(texts.length);
      expect(await having("missing")).toEqual([]);
    });

    it("counts how many documents that match have each element of a list, most first", async () => {
      const lists = [["a", "b"], ["b"], ["b", 'say "c"', "$d"], [], ["a"]];
      const tagged = lists.map((tags, n) => ({ ...note(`t${n}`, { done: n === 4 }), tags }) as Document);
      await put("notes", ...tagged, note("none"));
      const elements = async (query: CountQuery, limit = 10) =>
        (await store.countElements("notes", { ...query, field: "tags", limit })).map(
          ({ element, documents }) => [element, documents],
        );
      expect(await elements({})).toEqual([
        ["b", 3],
        ["a", 2],
        ["$d", 1],
        ['say "c"', 1],
      ]);
      expect(await elements({}, 2)).toEqual([
        ["b", 3],
        ["a", 2],
      ]);
      expect(await elements({ where: { done: true } })).toEqual([["a", 1]]);
      expect(await elements({ where: { owner: "nobody" } })).toEqual([]);
      expect(await elements({}, 0)).toEqual([]);
      expect(await store.countElements("nothing", { field: "tags", limit: 1 })).toEqual([]);
    });

    it.each(["asc", "desc"] as const)(
      "pages %s through equal sort values without a gap or a repeat",
      async (direction) => {
        const notes = Array.from({ length: 47 }, (_, n) =>
          note(`n${String(n).padStart(2, "0")}`, { at: `t${n % 5}` }),
        );
        await put("notes", ...notes);
        const expected = notes.toSorted((a, b) => (a.at + a._id < b.at + b._id ? -1 : 1)).map(idOf);
        if (direction === "desc") expected.reverse();
        const query = { where: { owner: "x" }, sort: { field: "at", direction }, limit: 4 } as const;
        const pages = await Array.fromAsync(documentPages<Note>(store, "notes", query));
        expect(pages.flat().map(idOf)).toEqual(expected);
      },
    );

    it("pages by numbers in numeric order, 10 after 9", async () => {
      await put("notes", ...[9, 100, 10, 9, 0].map((size, n) => note(`n${n}`, { size })));
      const largest = { where: { owner: "x" }, sort: { field: "size", direction: "desc" } } as const;
      expect(await ids(largest)).toEqual(["n1", "n2", "n3", "n0", "n4"]);
      expect(await ids({ ...largest, after: { value: 9, id: "n3" } })).toEqual(["n0", "n4"]);
    });

    it("pages by id without a sort", async () => {
      await put("notes", note("a"), note("b"), note("c"));
      expect(await ids({ limit: 2 })).toEqual(["a", "b"]);
      expect(await ids({ limit: 0 })).toEqual([]);
      const pages = await Array.fromAsync(documentPages<Note>(store, "notes", { limit: 2 }));
      expect(pages.map((page) => page.map(idOf))).toEqual([["a", "b"], ["c"]]);
    });

    it("counts all documents that match, without a limit", async () => {
      await put("notes", ...Array.from({ length: 30 }, (_, n) => note(`n${n}`, { done: n % 3 === 0 })));
      expect(await store.count("notes", { where: { done: true } })).toBe(10);
      expect(await store.count("notes", {})).toBe(30);
    });

    async function put(collection: string, ...documents: Document[]): Promise<void> {
      await store.write({ documents: [{ collection, documents }] });
    }

    async function ids(query: Partial<FindQuery>): Promise<string[]> {
      return (await store.find("notes", { ...ALL, ...query })).map(idOf);
    }
  });
}

function note(_id: string, fields: Partial<Note> = {}): Note {
  return { _id, _position: "001", owner: "x", title: _id, at: "t", done: false, size: 0, ...fields };
}

function idOf({ _id }: Document): string {
  return _id;
}
