// The contract of the read store port, for every adapter.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { documentPages } from "../../src/stores/read-store/document-pages.ts";
import type { Document, FindQuery, ReadStore } from "../../src/stores/read-store/port.ts";

/** `reopen`: a second, independent handle on the same data. */
export type ReadStoreFixture = {
  readStore: ReadStore;
  reopen(): Promise<ReadStore>;
  cleanUp(): Promise<void>;
};

type Note = Document & { owner: string | null; title: string; at: string; done: boolean; size: number };

const NOTES = { name: "notes", indexes: [["owner", "done", "at"], ["title"]] } as const;

export function readStoreContract(name: string, open: () => Promise<ReadStoreFixture>) {
  describe(`read store: ${name}`, () => {
    let fixture: ReadStoreFixture;
    let store: ReadStore;

    beforeEach(async () => {
      fixture = await open();
      store = fixture.readStore;
      await store.ensure([NOTES]);
    });
    afterEach(async () => await fixture.cleanUp());

    it("finds no document in a collection that does not exist", async () => {
      expect(await store.get("never-made", "x")).toBeUndefined();
      expect(await store.find("never-made", { limit: 5 })).toEqual([]);
    });

    it("can ensure the same collections again, from a second handle too", async () => {
      await store.replace("notes", [note("a")]);
      const second = await fixture.reopen();
      await second.ensure([NOTES]);
      await store.ensure([NOTES]);
      expect(await second.get("notes", "a")).toEqual(note("a"));
      await second.close();
    });

    it("returns a document unchanged, including unusual keys and texts", async () => {
      const odd = JSON.parse(
        '{"_id":"o","_position":"1","pairs":[["__proto__",1],["a.b",2],["$gt",3]],"text":"\\u0000\\ud83d\\ude00%_\'\\"","none":null}',
      ) as Document;
      await store.replace("notes", [odd]);
      expect(await store.get("notes", "o")).toEqual(odd);
    });

    it("overwrites a document at a higher position", async () => {
      await store.replace("notes", [note("a", { _position: "005", title: "old" })]);
      await store.replace("notes", [note("a", { _position: "006", title: "new" })]);
      expect((await store.get<Note>("notes", "a"))?.title).toBe("new");
    });

    it("ignores a document with an equal or lower position, and writes the others of the call", async () => {
      await store.replace("notes", [note("a", { _position: "005", title: "kept" })]);
      for (const _position of ["004", "005"]) {
        await store.replace("notes", [
          note("a", { _position, title: "late" }),
          note(`b${_position}`, { _position }),
        ]);
      }
      expect((await store.get<Note>("notes", "a"))?.title).toBe("kept");
      expect(await store.count("notes", {})).toBe(3);
    });

    it("overwrites hundreds of documents in one call", async () => {
      const written = (_position: string) =>
        Array.from({ length: 300 }, (_, n) => note(`n${n}`, { _position, title: _position }));
      await store.replace("notes", written("001"));
      await store.replace("notes", written("002"));
      expect(await store.count("notes", { where: { title: "002" } })).toBe(300);
    });

    it("gets many by id: those that exist, each once", async () => {
      await store.replace("notes", [note("a"), note("b")]);
      const found = await store.getMany("notes", ["b", "missing", "a", "a"]);
      expect(found.map(({ _id }) => _id).sort()).toEqual(["a", "b"]);
      expect(await store.getMany("notes", [])).toEqual([]);
    });

    it("gets the wanted fields of many, whatever they hold", async () => {
      const shaped: object = { list: [[1, "a"], []], shape: { "a.b": null }, owner: null, size: 1.5 };
      await store.replace("notes", [note("a", shaped), note("b")]);
      const found = await store.getMany("notes", ["a"], ["list", "shape", "owner", "size"]);
      expect(found).toMatchObject([{ _id: "a", _position: note("a")._position, ...shaped }]);
      expect(await store.getMany("notes", ["missing"], ["list"])).toEqual([]);
    });

    it("finds by equality on text, number, boolean and null", async () => {
      await store.replace("notes", [
        note("a", { owner: "x", done: true, size: 1 }),
        note("b", { owner: "x", done: false, size: 2 }),
        note("c", { owner: null, done: false, size: 1 }),
      ]);
      expect(await ids({ where: { owner: "x" } })).toEqual(["a", "b"]);
      expect(await ids({ where: { owner: "x", done: false } })).toEqual(["b"]);
      expect(await ids({ where: { size: 1 } })).toEqual(["a", "c"]);
      expect(await ids({ where: { size: "1" } })).toEqual([]);
      expect(await ids({ where: { owner: null } })).toEqual(["c"]);
      expect(await ids({ where: { _id: "b" } })).toEqual(["b"]);
    });

    it("treats values that look like operators or code as values", async () => {
      await store.replace("notes", [note("a", { owner: "x" })]);
      const operator = { $gt: "" } as unknown as string;
      for (const value of ['{"$gt":""}', "x' OR '1'='1", "$ne", operator]) {
        expect(await ids({ where: { owner: value } })).toEqual([]);
      }
      await store.replace("notes", [note("b", { owner: '{"$gt":""}' })]);
      expect(await ids({ where: { owner: '{"$gt":""}' } })).toEqual(["b"]);
    });

    it("refuses names of collections and fields that are not plain", async () => {
      await expect(store.get("notes; DROP TABLE notes", "a")).rejects.toThrow();
      await expect(store.find("notes", { where: { "a') OR (1=1": 1 }, limit: 1 })).rejects.toThrow();
    });

    it("bounds a range by its start inclusively and its end exclusively", async () => {
      await store.replace(
        "notes",
        ["1", "2", "3", "4"].map((at) => note(at, { at })),
      );
      expect(await ids({ range: { field: "at", from: "2", to: "4" } })).toEqual(["2", "3"]);
      expect(await ids({ range: { field: "at", from: "3" } })).toEqual(["3", "4"]);
      expect(await ids({ range: { field: "at", to: "2" } })).toEqual(["1"]);
    });

    it("finds a part of a text in any of the fields, ignoring case, with %, _ and \\ taken literally", async () => {
      await store.replace("notes", [
        note("a", { title: "100% Sure", owner: "o" }),
        note("b", { title: "1000 sure", owner: "snake_case" }),
        note("c", { title: "back\\slash", owner: "snakeXcase" }),
        note("d", { title: "a.c(x)*[z]", owner: "o" }),
      ]);
      const containing = async (text: string) =>
        await ids({ contains: { fields: ["title", "owner"], text } });
      expect(await containing("SURE")).toEqual(["a", "b"]);
      expect(await containing("0%")).toEqual(["a"]);
      expect(await containing("e_c")).toEqual(["b"]);
      expect(await containing("k\\s")).toEqual(["c"]);
      expect(await containing(".*")).toEqual([]);
      expect(await containing("c(x)*[")).toEqual(["d"]);
      expect(await containing("sure\0")).toEqual([]);
      expect(await containing("\0")).toEqual([]);
    });

    it.each(["asc", "desc"] as const)(
      "pages %s through equal sort values without a gap or a repeat",
      async (direction) => {
        const notes = Array.from({ length: 47 }, (_, n) =>
          note(`n${String(n).padStart(2, "0")}`, { at: `t${n % 5}` }),
        );
        await store.replace("notes", notes);
        const expected = notes
          .map(({ at, _id }) => `${at} ${_id}`)
          .sort()
          .map((text) => text.split(" ")[1]);
        if (direction === "desc") expected.reverse();
        const seen: string[] = [];
        const query = { where: { owner: "x" }, sort: { field: "at", direction }, limit: 4 } as const;
        for await (const page of documentPages<Note>(store, "notes", query))
          seen.push(...page.map(({ _id }) => _id));
        expect(seen).toEqual(expected);
      },
    );

    it("pages by numbers in numeric order, 10 after 9", async () => {
      await store.replace(
        "notes",
        [9, 100, 10, 9, 0].map((size, n) => note(`n${n}`, { size })),
      );
      const largest = { where: { owner: "x" }, sort: { field: "size", direction: "desc" } } as const;
      expect(await ids(largest)).toEqual(["n1", "n2", "n3", "n0", "n4"]);
      expect(await ids({ ...largest, after: { value: 9, id: "n3" } })).toEqual(["n0", "n4"]);
    });

    it("pages by id without a sort", async () => {
      await store.replace(
        "notes",
        ["a", "b", "c"].map((id) => note(id)),
      );
      expect(await ids({ limit: 2 })).toEqual(["a", "b"]);
      expect(await ids({ limit: 2, skip: 2 })).toEqual(["c"]);
      expect(await ids({ after: { value: "", id: "b" }, limit: 2 })).toEqual(["c"]);
      const pages = await Array.fromAsync(documentPages<Note>(store, "notes", { limit: 2 }));
      expect(pages.map((page) => page.map(({ _id }) => _id))).toEqual([["a", "b"], ["c"]]);
    });

    it("counts all documents that match, without a limit", async () => {
      await store.replace(
        "notes",
        Array.from({ length: 30 }, (_, n) => note(`n${n}`, { done: n % 3 === 0 })),
      );
      expect(await store.count("notes", { where: { done: true } })).toBe(10);
      expect(await store.count("notes", {})).toBe(30);
    });

    it("drops one collection, which can be created again, and leaves the others; a missing one is no error", async () => {
      await store.replace("notes", [note("a")]);
      await store.replace("others", [note("a")]);
      await store.drop("notes");
      await store.drop("never-made");
      expect(await store.count("notes", {})).toBe(0);
      expect(await store.get("others", "a")).toBeDefined();
      await store.replace("notes", [note("b")]);
      expect(await store.count("notes", {})).toBe(1);
    });

    it("moves a checkpoint forward only, and saves what is waited for at the same position", async () => {
      const at = (position: string) => ({ position });
      expect(await store.checkpoint("p:1")).toBeUndefined();
      await store.saveCheckpoint("p:1", at("010"));
      await store.saveCheckpoint("p:1", at("009"));
      expect(await store.checkpoint("p:1")).toEqual(at("010"));
      const waitsFor = { position: "011", stream: "s", revision: 1, type: "T" };
      await store.saveCheckpoint("p:1", { ...at("010"), waitsFor });
      await store.saveCheckpoint("q:1", at("001"));
      expect(await store.checkpoints()).toEqual({ "p:1": { ...at("010"), waitsFor }, "q:1": at("001") });
      await store.saveCheckpoint("p:1", at("012"));
      expect(await store.checkpoint("p:1")).toEqual(at("012"));
    });

    it("commits documents of several collections and checkpoints, and ignores what is not newer", async () => {
      const checkpoint = { position: "005" };
      await store.replace("notes", [note("a", { _position: "009", title: "kept" })]);
      const batch = store.writeBatch();
      batch.add("notes", [note("a", { _position: "005" })]);
      batch.add("others", [note("c")]);
      batch.add("empty", []);
      batch.add("notes", [note("b")]);
      expect(batch.size).toBe(3);
      expect(await store.get("others", "c")).toBeUndefined();
      await batch.write({ checkpoints: { "p:1": checkpoint, "q:1": checkpoint } });
      expect((await store.get<Note>("notes", "a"))?.title).toBe("kept");
      expect(await store.get("notes", "b")).toEqual(note("b"));
      expect(await store.get("others", "c")).toEqual(note("c"));
      expect(await store.checkpoints()).toEqual({ "p:1": checkpoint, "q:1": checkpoint });
    });

    it("finds, sorts and overwrites by fields with columns of their own as by any others", async () => {
      const columns = ["owner", "done", "size"];
      await store.ensure([{ name: "ranked", indexes: [["owner", "size"]], columns }]);
      const found = async (query: Partial<FindQuery>) =>
        (await store.find("ranked", { limit: 100, ...query })).map(({ _id }) => _id);
      const sort = { field: "size", direction: "desc" } as const;
      await store.replace("ranked", [
        note("a", { size: 1 }),
        note("b", { size: 20, done: true }),
        note("c", { size: 3, owner: null }),
      ]);
      expect(await found({ where: { owner: "x" }, sort })).toEqual(["b", "a"]);
      expect(await found({ where: { owner: null } })).toEqual(["c"]);
      expect(await found({ where: { done: true } })).toEqual(["b"]);
      // The size, which is part of the index, changes; then only fields that are not; then by an older document.
      await store.replace("ranked", [note("a", { size: 30, _position: "002" })]);
      await store.replace("ranked", [note("a", { size: 30, title: "new", done: true, _position: "003" })]);
      await store.replace("ranked", [note("a", { size: 5, title: "late", _position: "002" })]);
      await store.replace("ranked", [note("a", { size: 30, title: "late", _position: "003" })]);
      expect(await found({ where: { owner: "x" }, sort })).toEqual(["a", "b"]);
      expect(await found({ where: { owner: "x", size: 30 } })).toEqual(["a"]);
      expect(await found({ where: { done: true }, sort, after: { value: 30, id: "a" } })).toEqual(["b"]);
      expect(await store.get("ranked", "a")).toMatchObject({ title: "new", done: true, _position: "003" });
      expect(await store.count("ranked", { where: { size: 5 } })).toBe(0);
    });

    it("finds by a partial index as without one", async () => {
      await store.ensure([{ name: "partly", indexes: [], partialIndexes: [["title", "owner"]] }]);
      const title = "same";
      const found = async (query: Partial<FindQuery>) =>
        (await store.find("partly", { limit: 100, ...query })).map(({ _id }) => _id);
      await store.replace("partly", [
        note("a", { title }),
        note("b", { title, owner: null }),
        note("c", { title, owner: "y" }),
      ]);
      const ofAnybody = { field: "owner", from: "" };
      expect(await found({ where: { title }, range: ofAnybody })).toEqual(["a", "c"]);
      expect(await found({ where: { title, owner: "x" }, range: ofAnybody })).toEqual(["a"]);
      expect(await found({ where: { title, owner: null } })).toEqual(["b"]);
      expect(await found({ where: { title } })).toEqual(["a", "b", "c"]);
      await store.replace("partly", [
        note("a", { title, owner: null, _position: "002" }),
        note("b", { title, _position: "002" }),
      ]);
      expect(await found({ where: { title }, range: ofAnybody })).toEqual(["b", "c"]);
    });

    it("finds by an element of a list of texts, whole and in its case, by an index or without one", async () => {
      const partialIndexes = [["owner", "at", "tags"]];
      await store.ensure([{ name: "tagged", indexes: [], partialIndexes }]);
      const texts = ["a", "ab", "A", ",", '","', 'say "a"', "back\\slash", "%", "\u0000", "😀", "{}", "$a"];
      for (const collection of ["notes", "tagged"]) {
        const tagged = (id: string, tags: unknown, more: Partial<Note> = {}) =>
          ({ ...note(id, more), tags }) as Document;
        await store.replace(collection, [
          ...texts.map((text, n) => tagged(`t${n}`, ["first", text])),
          tagged("two", ["a", "b"], { done: true }),
          tagged("none", []),
          tagged("text", "a"),
          tagged("null", null),
          note("without"),
        ]);
        const found = async (element: string, query: Partial<FindQuery> = {}) => {
          const has = { field: "tags", element };
          const documents = await store.find(collection, { has, limit: 100, ...query });
          expect(await store.count(collection, { ...query, has })).toBe(documents.length);
          return documents.map(({ _id }) => _id);
        };
        for (const [n, text] of texts.entries())
          expect([text, (await found(text)).filter((id) => id !== "two" && id !== "text")]).toEqual([
            text,
            [`t${n}`],
          ]);
        const sort = { field: "at", direction: "desc" } as const;
        expect(await found("a", { where: { owner: "x", done: true }, sort })).toEqual(["two"]);
        expect(await found("first", { where: { owner: "x" }, sort })).toHaveLength(texts.length);
        expect(await found("missing")).toEqual([]);
        expect(await store.get(collection, "t5")).toEqual(tagged("t5", ["first", 'say "a"']));
        expect(await store.get(collection, "none")).toEqual(tagged("none", []));
      }
    });

    it("deletes a checkpoint, so that a lower one can be saved again", async () => {
      await store.saveCheckpoint("p:1", { position: "9" });
      await store.resetCheckpoint("p:1");
      expect(await store.checkpoint("p:1")).toBeUndefined();
      await store.saveCheckpoint("p:1", { position: "1" });
      expect((await store.checkpoint("p:1"))?.position).toBe("1");
    });

    async function ids(query: Partial<FindQuery>): Promise<string[]> {
      return (await store.find("notes", { limit: 100, ...query })).map(({ _id }) => _id);
    }
  });
}

function note(_id: string, fields: Partial<Note> = {}): Note {
  return { _id, _position: "001", owner: "x", title: _id, at: "t", done: false, size: 0, ...fields };
}
