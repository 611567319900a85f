/** How watch events are split into WebSocket messages. */
export interface EventMessages {
  readonly isBinary: boolean;
  /** Splits a chunk, which must contain whole events. */
  readonly events: (chunk: Uint8Array) => Iterable<Uint8Array>;
}

/** Selects the splitter by the media type of the watch. */
export function splitEvents(mediaType: string): EventMessages {
  const isBinary = mediaType.includes("stream=watch");
  return { isBinary, events: isBinary ? splitMessages : splitLines };
}

const LINE_FEED = 0x0a;

// Compat: the line feed is kept. A WebSocket message is one Write of kube-apiserver's encoder.
function* splitLines(chunk: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < chunk.length; ) {
    const end = chunk.indexOf(LINE_FEED, start) + 1 || chunk.length;
    yield chunk.subarray(start, end);
    start = end;
  }
}

/** WebSocket messages have a length, so the four-byte length prefix is dropped. */
function* splitMessages(chunk: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  for (let start = 0; start < chunk.length; ) {
    const end = start + 4 + view.getUint32(start);
    yield chunk.subarray(start + 4, end);
    start = end;
  }
}
