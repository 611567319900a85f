import type { WebSocket } from "ws";

/** Above this much unread data, or this many unread pongs, no further pong is sent until the client has read one. */
const MAX_UNREAD_BYTES = 16 * 1024;
const MAX_UNREAD_PONGS = 1000;
/** More pings than one socket read can contain, so a client that reads never reaches this limit. */
const MAX_UNANSWERED = 20_000;

/**
 * Answers pings; requires `autoPong: false`. If a client does not read, only its last ping is kept, as RFC 6455, 5.5.3
 * allows. A client that keeps sending pings regardless is disconnected.
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
    // Copied because the data is a slice of a far larger buffer.
    else last = Buffer.from(data);
  });
}
