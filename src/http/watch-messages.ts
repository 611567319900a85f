/** How the events of a watch become messages of a WebSocket. */
export interface EventMessages {
  readonly isBinary: boolean;
  /** The events of a chunk, which must hold whole events. */
  readonly events: (chunk: Uint8Array) => Iterable<Uint8Array>;
}

/** Tells by the media type of a watch where its events end. */
export function splitEvents(mediaType: string): EventMessages {
  const isBinary = mediaType.includes("stream=watch");
  return { isBinary, events: isBinary ? splitMessages : splitLines };
}

const LINE_FEED = 0x0a;

// Compat: the line feed stays: a WebSocket message is what one Write of kube-apiserver's encoder is.
function* splitLines(chunk: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < chunk.length; ) {
    const end = chunk.indexOf(LINE_FEED, start) + 1 || chunk.length;
    yield chunk.subarray(start, end);
    start = end;
  }
}

/** Messages tell their own length, so the four bytes of it in front are left out. */
function* splitMessages(chunk: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  for (let start = 0; start < chunk.length; ) {
    const end = start + 4 + view.getUint32(start);
    yield chunk.subarray(start + 4, end);
    start = end;
  }
}
