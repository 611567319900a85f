import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import path from "node:path";

/**
 * The least that a Node server can do over TLS: it answers every path with a ready buffer, of as many bytes as the path
 * says (`/1024`). Arguments: the folder of certificate and key, and the port.
 */
const [directory = ".", port = "0"] = process.argv.slice(2);
const bodies = new Map<string, Buffer>();
function bodyOf(path: string): Buffer {
  const body = bodies.get(path) ?? Buffer.alloc(Number(path.slice(1)) || 0, "x");
  bodies.set(path, body);
  return body;
}
const server = createSecureServer(
  {
    allowHTTP1: true,
    // The servers that are measured take turns, and a turn of the others takes longer than Node waits by itself.
    http1Options: { keepAliveTimeout: 600_000 },
    cert: readFileSync(path.join(directory, "apiserver.crt")),
    key: readFileSync(path.join(directory, "apiserver.key")),
  },
  (request, response) => {
    const body = bodyOf(request.url);
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
    response.end(body);
  },
);
server.listen(Number(port), "127.0.0.1");
