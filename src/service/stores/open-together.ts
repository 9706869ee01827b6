// Opens several stores that are closed by one call, also when one of them fails to open.
type Closeable = { close(): Promise<void> };

/** Resolves when the store is open, and registers it for the common `close`. */
export type Open = <S extends Closeable>(store: S | Promise<S>) => Promise<S>;

/**
 * What `openAll` answers, with a `close` for every store that it opened: one after the other, the last one first. When
 * `openAll` throws, the stores that are open already are closed before the error is passed on.
 */
export async function openTogether<T>(openAll: (open: Open) => Promise<T>): Promise<T & Closeable> {
  const opened: Closeable[] = [];
  const open: Open = async (store) => {
    const ready = await store;
    opened.unshift(ready);
    return ready;
  };
  const close = async () => {
    for (const store of opened.splice(0)) await store.close();
  };
  try {
    return { ...(await openAll(open)), close };
  } catch (error) {
    await close();
    throw error;
  }
}
