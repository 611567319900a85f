import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import path from "node:path";

/**
 * The least that a Node server can do over TLS: it answers everything with one ready buffer.
 * Arguments: the folder of certificate and key, the port, the size of the buffer.
 */
const [directory = ".", port = "0", size = "0"] = process.argv.slice(2);
const body = Buffer.alloc(Number(size), "x");
const server = createSecureServer(
  {
    allowHTTP1: true,
    cert: readFileSync(path.join(directory, "apiserver.crt")),
    key: readFileSync(path.join(directory, "apiserver.key")),
  },
  (_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
    response.end(body);
  },
);
server.listen(Number(port), "127.0.0.1");
