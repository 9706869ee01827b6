// The bound of an LRU cache that grows as it is filled.
/**
 * For entries of about the same size. With `max` alone lru-cache would reserve the memory of all entries, 3.5 MB for
 * 100,000 with a time to live, when it is created.
 */
export function entriesBound(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
