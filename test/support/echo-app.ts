import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { gzipSync } from "node:zlib";

/** A program behind a pod that echoes its requests. */
export interface EchoApp {
  readonly port: number;
  readonly seen: { readonly method: string; readonly url: string; readonly headers: IncomingMessage["headers"] }[];
  stop(): Promise<void>;
}

const PAGE = '<html><head><link href="/style.css"></head><a href="/x">x</a> <a href="y">y</a></html>';

/** Starts the program on loopback. */
export async function startEchoApp(): Promise<EchoApp> {
  const seen: EchoApp["seen"] = [];
  const server: Server = createServer((request, response) => {
    const { method = "", url = "", headers } = request;
    seen.push({ method, url, headers });
    const { pathname } = new URL(url, "http://app");
    if (pathname === "/page") response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(PAGE);
    else if (pathname === "/packed") {
      response.writeHead(200, { "content-type": "text/html", "content-encoding": "gzip" }).end(gzipSync(PAGE));
    } else if (pathname === "/moved") response.writeHead(302, { location: "/here?a=b" }).end();
    else if (pathname === "/away") response.writeHead(302, { location: "https://away.example/x" }).end();
    else if (pathname === "/cookies") {
      response.writeHead(200, { "set-cookie": ["a=1", "b=2"], "access-control-allow-origin": "*" }).end();
    } else if (pathname === "/echo") request.pipe(response);
    else {
      response.writeHead(200, { "content-type": "text/plain", "x-seen": `${method} ${url}` });
      request.resume().on("end", () => response.end(`${method} ${url}`));
    }
  });
  server.on("upgrade", (request, socket) => {
    const { method = "", url = "", headers } = request;
    seen.push({ method, url, headers });
    socket.on("error", () => socket.destroy());
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${headers.upgrade}\r\n\r\n`);
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A program that responds to all requests with these bytes, and records them. */
export interface RawApp {
  readonly port: number;
  answer: string;
  readonly received: string[];
  /** How many connections are open. */
  open(): number;
  stop(): Promise<void>;
}

/** Starts the program on loopback. */
export async function startRawApp(): Promise<RawApp> {
  const received: string[] = [];
  const open = new Set<object>();
  const app = { answer: "", received, open: () => open.size };
  const server = createTcpServer((socket) => {
    open.add(socket);
    let isAnswered = false;
    socket.on("error", () => socket.destroy()).on("close", () => open.delete(socket));
    socket.setEncoding("latin1").on("data", (text: unknown) => {
      received.push(String(text));
      if (!isAnswered) socket.write(app.answer);
      isAnswered = true;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return Object.assign(app, { port: (server.address() as AddressInfo).port, stop });
}
