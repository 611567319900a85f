import { badRequest, plainError } from "../../../base/api/api-error.ts";
import type { Call } from "../../../base/api/call.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import { runBounded } from "../handlers/bounded-writes.ts";
import type { CommandRequest } from "../handlers/command-request.ts";
import type { StreamOptions } from "../options.ts";
import type { CommandSession } from "./session.ts";
import { SPDY_COMMAND_PROTOCOLS, SpdySession } from "./spdy-session.ts";
import { exitStatus, failureStatus, successStatus } from "./status.ts";
import { COMMAND_PROTOCOLS, WebSocketSession } from "./websocket-session.ts";

/** A command and its handler function. */
export interface ServedCommand {
  readonly pod: KubeObject;
  readonly container: string;
  readonly options: StreamOptions;
  readonly run: (request: CommandRequest) => Promise<number | undefined>;
}

/**
 * Serves exec or attach with a handler function, over any of the client protocols. Throws BadRequest like a kubelet.
 */
export function serveCommand(call: Call, served: ServedCommand): ApiReply {
  const { request, signal } = call;
  const { stdin, stdout, stderr } = served.options;
  // Compat: `remotecommandserver.NewOptions`.
  if (!stdin && !stdout && !stderr) throw badRequest("you must specify at least 1 of stdin, stdout, stderr");
  if (request.upgrade === "websocket") {
    return {
      type: "connect",
      over: "websocket",
      protocols: COMMAND_PROTOCOLS,
      async run(channel) {
        const session = new WebSocketSession(channel, withoutStderrOfTerminals(served.options));
        const left = new AbortController();
        session
          .receive()
          .catch(() => {})
          .finally(() => left.abort());
        await runCommand(session, served, AbortSignal.any([signal, left.signal]));
      },
    };
  }
  const protocol = chooseProtocol(request.headers["x-stream-protocol-version"], SPDY_COMMAND_PROTOCOLS);
  return {
    type: "connect",
    over: "upgrade",
    protocol: "SPDY/3.1",
    headers: { "x-stream-protocol-version": protocol },
    async run(connection) {
      const session = await SpdySession.accept(connection, protocol, served.options);
      const left = new AbortController();
      void session.closed.then(() => left.abort());
      await runCommand(session, served, AbortSignal.any([signal, left.signal]));
      // The client closes the connection after it has read everything.
      await session.closed;
    },
  };
}

const withoutStderrOfTerminals = (options: StreamOptions): StreamOptions =>
  options.tty ? { ...options, stderr: false } : options;

/**
 * The first stream protocol version that both sides support. Throws Forbidden like upstream's `httpstream.Handshake`.
 */
export function chooseProtocol(offered: string | readonly string[] | undefined, known: readonly string[]): string {
  const names = [offered ?? []].flat().flatMap((line) => line.split(",").map((name) => name.trim()));
  if (names.length === 0)
    throw badRequest('unable to upgrade: upgrade request missing required header "X-Stream-Protocol-Version"');
  const chosen = names.find((name) => known.includes(name));
  if (chosen === undefined)
    throw plainError(403, `unable to upgrade: unable to negotiate protocol: client supports [${names.join(" ")}]`);
  return chosen;
}

async function runCommand(session: CommandSession, served: ServedCommand, left: AbortSignal): Promise<void> {
  const { pod, container, options, run } = served;
  const { command, tty } = options;
  const { stdin, stdout, stderr } = session;
  for (const stream of [stdin, stdout, stderr]) stream?.on("error", () => {});
  const onResize: CommandRequest["onResize"] = (listener) => session.onResize(listener);
  let status = successStatus();
  try {
    const code = await runBounded([stdout, stderr], left, (signal) =>
      run({ pod, container, command, tty, stdin, stdout, stderr, onResize, signal }),
    );
    if (code !== undefined && code !== 0) status = exitStatus(code);
  } catch (error) {
    status = failureStatus(`error executing command in container: ${error instanceof Error ? error.message : error}`);
  }
  await Promise.all([flushed(stdout), flushed(stderr)]);
  await session.finish(status);
  stdin?.destroy();
}

/** Resolves when all written data has been accepted by the client connection. */
function flushed(stream: CommandSession["stdout"]): Promise<void> {
  if (!stream || stream.destroyed || stream.writableFinished || stream.writableLength === 0) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once("close", resolve).write("", () => resolve());
  });
}
