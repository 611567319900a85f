import type { WebSocket } from "ws";

/** With this much to read, or so many pongs, a client gets no further pong before it has read one. */
const MAX_UNREAD_BYTES = 16 * 1024;
const MAX_UNREAD_PONGS = 1000;
/** More than one read of a connection can hold, so that pings of a client that reads never come to this many. */
const MAX_UNANSWERED = 20_000;

/**
 * Answers pings; the WebSocket must not do so by itself (`autoPong`). While a client does not read, only the last of its
 * pings is kept to be answered, as RFC 6455, 5.5.3 allows; one that goes on all the same is cut off.
 */
export function answerPings(webSocket: WebSocket): void {
  let sending = 0;
  let last: Buffer | undefined;
  let unanswered = 0;
  const answer = (data: Buffer): void => {
    sending++;
    unanswered = 0;
    webSocket.pong(data, false, () => {
      sending--;
      const next = last;
      last = undefined;
      if (next !== undefined && webSocket.readyState === webSocket.OPEN) answer(next);
    });
  };
  webSocket.on("ping", (data) => {
    if (webSocket.readyState !== webSocket.OPEN) return;
    const isReading = webSocket.bufferedAmount <= MAX_UNREAD_BYTES && sending < MAX_UNREAD_PONGS;
    if (sending === 0 || isReading) answer(data);
    else if (++unanswered > MAX_UNANSWERED) webSocket.terminate();
    // A copy: the data is part of a far larger buffer.
    else last = Buffer.from(data);
  });
}
