// Opens each of several resources when it is first needed, and closes by one call those that were opened.
type Closeable = { close(): Promise<void> };

/** `opener`: the function opens at its first call, and answers the same resource at each; a failure is kept, too. */
export type Openers = {
  opener<R extends Closeable>(open: () => R | Promise<R>): () => Promise<R>;
  /** One after the other, the one opened last first. */
  close(): Promise<void>;
};

export function openers(): Openers {
  const opened: Closeable[] = [];
  return {
    opener(open) {
      const openOnce = async () => {
        const resource = await open();
        opened.unshift(resource);
        return resource;
      };
      let opening: ReturnType<typeof openOnce> | undefined;
      return () => {
        opening ??= openOnce();
        return opening;
      };
    },
    async close() {
      for (const resource of opened.splice(0)) await resource.close();
    },
  };
}
