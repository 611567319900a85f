import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { makeCa, makeIdentity } from "../../src/base/pki/make-certificate.ts";

/** What a backend answers. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
  /** To an upgrade: these bytes. */
  readonly raw?: string;
}

/** A request as a backend got it. */
export interface HeardRequest {
  readonly method: string;
  readonly url: string;
  /** `name: value`, sorted. */
  readonly headers: readonly string[];
  readonly body: string;
  readonly isSecure: boolean;
}

/** A program behind a pod, service or node, with and without TLS. */
export interface Backend {
  readonly port: number;
  readonly securePort: number;
  /** What comes next is answered with. */
  script: ScriptedAnswer;
  readonly heard: HeardRequest[];
  stop(): void;
}

/** Starts it at an address. */
export async function startBackend(host: string): Promise<Backend> {
  const own = makeIdentity(makeCa("apps", Date.now()), { commonName: "app", hosts: [host] }, "server", Date.now());
  const heard: HeardRequest[] = [];
  const backend: Pick<Backend, "script"> = { script: {} };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray()).toString("latin1");
    heard.push(heardOf(request, body));
    const { status = 200, headers = { "content-type": "text/plain" }, body: told = "hello\n" } = backend.script;
    response.sendDate = false;
    response.writeHead(status, headers).end(told);
  };
  const upgrade = (request: IncomingMessage, socket: Duplex): void => {
    heard.push(heardOf(request, ""));
    socket.on("error", () => socket.destroy());
    const { upgrade: protocol } = request.headers;
    const switching = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;
    socket.write(backend.script.raw ?? switching);
    socket.pipe(socket);
  };
  const servers = [createServer(), createSecureServer({ cert: own.certificate, key: own.key })];
  for (const server of servers) {
    server.on("request", (request, response) => answer(request, response).catch(() => response.destroy()));
    server.on("upgrade", upgrade);
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
  }
  const [port = 0, securePort = 0] = servers.map((server) => (server.address() as AddressInfo).port);
  const stop = (): void => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  };
  return Object.assign(backend, { port, securePort, heard, stop });
}

function heardOf({ method = "", url = "", rawHeaders, socket }: IncomingMessage, body: string): HeardRequest {
  const headers: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.push(`${rawHeaders[index]?.toLowerCase()}: ${rawHeaders[index + 1]}`);
  }
  return { method, url, headers: headers.sort(), body, isSecure: "encrypted" in socket };
}
