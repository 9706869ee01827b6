// Prints time, link, kind and country of an account's clicks from its tables, without our code:
// node read-click-table.mjs data/read.db ACCOUNT_ID, or the URL of MongoDB in place of the file. Behind a build's number other
// than 0 in `projections status` the name ends with it, such as docs_click-tables_b2: give it as the third.
import { DatabaseSync } from "node:sqlite";
import { MongoClient } from "mongodb";

const [where, account, name = "docs_click-tables"] = process.argv.slice(2);
const chunks = where.startsWith("mongodb") ? await fromMongo() : fromSqlite();
for (const [{ accountId, rows }, { columns, marks }] of chunks) {
  if (accountId !== account) continue;
  const text = ({ values, rows }, row) => values[rows?.[row] ?? 0];
  for (let row = 0, at = columns.at[0]; row < rows; row += 1, at += columns.at[row]) {
    if (marks.some((mark) => mark.until === "" && mark.rows.includes(row))) continue;
    const values = ["link", "kind", "country"].map((column) => text(columns[column], row));
    console.log(new Date(at).toISOString(), ...values);
  }
}

function fromSqlite() {
  const documents = new DatabaseSync(where).prepare(`SELECT * FROM "${name}" ORDER BY _id`).all();
  return documents.map(({ fields, nested }) => [JSON.parse(fields), JSON.parse(nested)]);
}

async function fromMongo() {
  const client = new MongoClient(where);
  const documents = await client.db().collection(name).find().sort({ _id: 1 }).toArray();
  await client.close();
  const parsed = (nested) =>
    Object.fromEntries(Object.entries(nested).map(([member, text]) => [member, JSON.parse(text)]));
  return documents.map((document) => [document, parsed(document._nested)]);
}
