import { connect, createServer, type Server, type Socket } from "node:net";

/** Response header that tells the kube-apiserver next to it that there is no store. */
const MARK = "x-binnacle-store";
const TIMEOUT_MS = 2000;
const MAX_HEAD = 16 * 1024;

/** The listen address from etcd's `--listen-client-urls`, or its default. Throws if it is not an http:// URL. */
export function listenAddress(args: readonly string[]): { readonly host: string; readonly port: number } {
  const text = lastValue(args, "listen-client-urls")?.split(",")[0] ?? "http://localhost:2379";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:") throw new Error(`expected an http:// URL in --listen-client-urls, got ${text}`);
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || 80) };
}

/** The last value of a flag in the syntax of Go's package flag: `--name=value`, `-name=value`, or with a space. */
function lastValue(args: readonly string[], name: string): string | undefined {
  const values = args.flatMap((arg, index) => {
    const flag = arg.replace(/^--?/, "");
    if (flag === arg) return [];
    if (flag === name) return args.slice(index + 1, index + 2);
    return flag.startsWith(`${name}=`) ? [flag.slice(name.length + 1)] : [];
  });
  return values.at(-1);
}

/**
 * A replacement for etcd where only the health check of a test uses it: responds to `GET /health` like etcd, and to
 * everything else with 404. Implements HTTP itself, because importing node:http takes longer than all its other work.
 */
export async function serveHealth({ host, port }: { host: string; port: number }): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    readHead(socket, (head) => {
      const isHealth = /^(GET|HEAD) \/health(\?\S*)? HTTP\/1\.[01]\r\n/.test(head);
      const body = isHealth ? `{"health":"true","reason":""}` : "";
      const lines = [
        isHealth ? "HTTP/1.1 200 OK" : "HTTP/1.1 404 Not Found",
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
        `${MARK}: memory`,
        "Connection: close",
      ];
      socket.end(`${lines.join("\r\n")}\r\n\r\n${head.startsWith("HEAD") ? "" : body}`);
    });
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  return server;
}

/** Whether `serveHealth` listens at this URL. */
export function isHealthOnly(url: string): Promise<boolean> {
  const { protocol, hostname, port } = URL.canParse(url) ? new URL(url) : { protocol: "", hostname: "", port: "" };
  if (protocol !== "http:") return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80) });
    socket.on("error", () => resolve(false)).on("close", () => resolve(false));
    socket.end("GET /health HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\n\r\n");
    readHead(socket, (head) => {
      resolve(head.split("\r\n").includes(`${MARK}: memory`));
      socket.destroy();
    });
  });
}

/** Calls `handle` with the lines before a body. Closes the connection if they are too long or do not arrive in time. */
function readHead(socket: Socket, handle: (head: string) => void): void {
  let text = "";
  const take = (part: string): void => {
    text += part;
    if (text.length > MAX_HEAD) socket.destroy();
    if (socket.destroyed || !text.includes("\r\n\r\n")) return;
    socket.off("data", take);
    handle(text);
  };
  socket
    .setTimeout(TIMEOUT_MS, () => socket.destroy())
    .setEncoding("latin1")
    .on("data", take);
}
