// The cache news contract within one process.
import { memoryCacheNews } from "../../src/coordination/cache-news.memory.ts";
import { cacheNewsContract } from "./cache-news.ts";

cacheNewsContract("in process", async () => {
  const news = memoryCacheNews();
  return { news, others: news, close: async () => undefined };
});
