export type StreamMessage = {
  event: string;
  id: string | undefined;
  data: string;
  retryMs: number | undefined;
};
/**
 * Ends with the body. `silentMs`: a connection that says nothing for so long is taken for broken.
 * @throws what reading throws; a TimeoutError for silence
 */
export declare function messagesOf(
  body: ReadableStream<Uint8Array>,
  silentMs: number,
): AsyncGenerator<StreamMessage, void, undefined>;
