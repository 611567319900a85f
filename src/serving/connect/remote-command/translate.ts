import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { JsonObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import type { HttpClient } from "../../../base/net/http-client.ts";
import { transportError } from "../../../base/net/transport-error.ts";
import type { Clock } from "../../../base/util/clock.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import { type Backend, joinHostPort } from "../backend.ts";
import type { StreamOptions } from "../options.ts";
import { SpdyConnection } from "../spdy/connection.ts";
import type { SpdyStream } from "../spdy/stream.ts";
import { type RefusedUpgrade, type SpdyUpgrade, upgradeToSpdy } from "../spdy-upgrade.ts";
import type { CommandSession } from "./session.ts";
import { failureStatus, readErrorStream } from "./status.ts";

/** Where a command runs. */
export interface CommandTarget {
  readonly http: HttpClient;
  readonly backend: Backend;
  readonly path: string;
  readonly clock: Clock;
}

// Compat: `NewSPDYExecutorForTransports` offers all of these.
const PROTOCOLS: readonly string[] = [
  "v5.channel.k8s.io",
  "v4.channel.k8s.io",
  "v3.channel.k8s.io",
  "v2.channel.k8s.io",
  "channel.k8s.io",
];
const PING_MS = 5000;
const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Connects a WebSocket client to a kubelet that supports only SPDY, until one of them ends. Resolves with the final
 * status for the client. Upstream: `StreamTranslatorHandler`.
 */
export async function translate(
  session: CommandSession,
  target: CommandTarget,
  options: StreamOptions,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { http, backend, path } = target;
  const host = joinHostPort(backend.host, backend.port);
  let answered: SpdyUpgrade | RefusedUpgrade;
  try {
    answered = await upgradeToSpdy(http, backend, { path, host, signal }, PROTOCOLS);
  } catch (error) {
    return failureStatus(`error sending request: Post ${quote(`https://${host}${path}`)}: ${transportError(error)}`);
  }
  if (!("socket" in answered)) return failureStatus(refusalOf(answered, `https://${host}${path}`));
  const spdy = new SpdyConnection(answered.socket, { role: "client" });
  const pings = target.clock.setInterval(PING_MS, () => spdy.ping());
  const stop = (): void => spdy.close();
  signal.addEventListener("abort", stop);
  try {
    return await copyStreams(session, spdy, options, answered.protocol);
  } catch (error) {
    return failureStatus(error instanceof Error ? error.message : String(error));
  } finally {
    signal.removeEventListener("abort", stop);
    pings.close();
    spdy.close();
  }
}

function refusalOf({ code, text }: RefusedUpgrade, url: string): string {
  if (code >= 300 && code < 400) return `error sending request: Post ${quote(url)}: redirect not allowed`;
  let reason = text.trim();
  try {
    const { message, error } = parseJsonText(text);
    reason = String(message || error || reason).trim();
  } catch {
    // Most error responses are plain text.
  }
  return `unable to upgrade connection: ${reason === "" ? "empty server response" : reason}`;
}

async function copyStreams(
  session: CommandSession,
  spdy: SpdyConnection,
  { stdin, stdout, stderr, tty }: StreamOptions,
  protocol: string,
): Promise<JsonObject> {
  const open = (isWanted: boolean, streamType: string): Promise<SpdyStream> | undefined =>
    isWanted ? spdy.open({ streamType }) : undefined;
  const errors = await spdy.open({ streamType: "error" });
  const input = await open(stdin, "stdin");
  const output = await open(stdout, "stdout");
  const errorOutput = await open(stderr && !tty, "stderr");
  const hasResize = tty && protocol !== "" && protocol !== "channel.k8s.io" && !protocol.startsWith("v2.");
  const resizes = await open(hasResize, "resize");
  // Compat: `handleResizes` prints sizes with encoding/json, a line each.
  if (resizes) session.onResize(({ width, height }) => resizes.write(`{"Width":${width},"Height":${height}}\n`));
  const errorText = readAll(errors);
  // Awaited at the end; until then the other streams report a broken connection.
  errorText.catch(() => {});
  if (input && session.stdin) copyInput(session.stdin, input);
  const copies: Promise<void>[] = [];
  if (output && session.stdout) copies.push(pipeline(output, session.stdout));
  if (errorOutput && session.stderr) copies.push(pipeline(errorOutput, session.stderr));
  await Promise.all(copies);
  const text = await errorText;
  const isJson = protocol.startsWith("v4.") || protocol.startsWith("v5.");
  return isJson || text === "" ? readErrorStream(text) : failureStatus(`error executing remote command: ${text}`);
}

/** Forwards the end of the client's input. The end of the command's stream is ignored. */
function copyInput(from: Readable, to: SpdyStream): void {
  to.resume();
  pipeline(from, to, { end: true }).catch(() => {});
}

async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ERROR_BYTES) throw new Error("error stream exceeds the size limit");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
