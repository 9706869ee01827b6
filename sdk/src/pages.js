// Lists as one sequence: asks for page after page while somebody reads on.
import { dataOf } from "./errors.js";

/** @throws LinkledgerError when a page is refused */
export async function* itemsOf(client, path, init) {
  const { params, ...rest } = init;
  const get = client.GET;
  let cursor;
  do {
    const query = { ...params?.query, ...(cursor !== undefined && { cursor }) };
    const page = await dataOf(get(path, { ...rest, params: { ...params, query } }));
    const items = Object.values(page).find(Array.isArray);
    yield* items;
    cursor = page.next_cursor;
  } while (cursor !== null);
}
