import { tokens } from "../support/oracle.ts";

const SECRETS = "/api/v1/namespaces/default/secrets";
const admin = `Authorization: Bearer ${tokens.admin}`;
const alice = `Authorization: Bearer ${tokens.alice}`;
const close = "Connection: close";

const lines = (...all: string[]) => `${all.join("\r\n")}\r\n\r\n`;
const get = (...headers: string[]) => lines(`GET ${SECRETS} HTTP/1.1`, "Host: x", ...headers);
const post = (...headers: string[]) => lines(`POST ${SECRETS} HTTP/1.1`, "Host: x", ...headers);
/** Requests Secrets without credentials: 403. Any other status would belong to another request. */
const hidden = get(close);
const asAdmin = get(admin, close);

/** HTTP/1.1 requests that two parsers might split differently. The request after them has no credentials. */
export const HTTP1: Readonly<Record<string, string>> = {
  "one after the other": get(admin) + hidden,
  "two tokens, the first without rights": get(alice, admin, close),
  "two tokens, the second without rights": get(admin, alice, close),
  "two tokens, the first unknown": get("Authorization: Bearer nobody", admin, close),
  "two tokens, the first empty": get("Authorization:", admin, close),
  "two tokens, the first of another scheme": get("Authorization: Basic eDp5", admin, close),
  "two tokens in one field": get(`${alice}, Bearer ${tokens.admin}`, close),
  "two tokens in one field, with a space": get(`${alice} ${tokens.admin}`, close),
  "a token in capitals": get(`AUTHORIZATION: BEARER ${tokens.admin}`, close),
  "a token behind two spaces": get(`Authorization: Bearer  ${tokens.admin}`, close),
  "a token behind a tab": get(`Authorization: Bearer\t${tokens.admin}`, close),
  "a token with a space before the colon": get(`Authorization : Bearer ${tokens.admin}`, close),
  "a token on the next line": get(`Authorization: Bearer\r\n ${tokens.admin}`, close),
  "a token behind a bare line feed": get(`X-A: b\nAuthorization: Bearer ${tokens.admin}`, close),
  "a token behind a bare carriage return": get(`X-A: b\rAuthorization: Bearer ${tokens.admin}`, close),
  "a token behind a zero byte": get(`Authorization: Bearer \0${tokens.admin}`, close),
  "a token in the trailers": `${post("Transfer-Encoding: chunked", "Trailer: Authorization", close)}0\r\n${admin}\r\n\r\n`,
  "a token that the connection owns": get(admin, "Connection: close, Authorization"),
  "a token in a proxy's field": get(`Proxy-Authorization: Bearer ${tokens.admin}`, close),
  "a token in the query": lines(`GET ${SECRETS}?access_token=${tokens.admin} HTTP/1.1`, "Host: x", close),
  "a token in a cookie": get(`Cookie: token=${tokens.admin}`, close),
  "a token with an underscore": get(`Authorization_: Bearer ${tokens.admin}`, close),

  "length and chunks": `${post(alice, "Content-Length: 4", "Transfer-Encoding: chunked")}0\r\n\r\n${asAdmin}`,
  "chunks and length": `${post(alice, "Transfer-Encoding: chunked", `Content-Length: ${asAdmin.length + 5}`)}0\r\n\r\n${asAdmin}`,
  "two lengths": post(alice, "Content-Length: 0", `Content-Length: ${asAdmin.length}`) + asAdmin,
  "two lengths that are the same": `${post(alice, "Content-Length: 2", "Content-Length: 2", close)}{}`,
  "two lengths in one field": `${post(alice, "Content-Length: 2, 2", close)}{}`,
  "a length with a sign": `${post(alice, "Content-Length: +2", close)}{}`,
  "a negative length": `${post(alice, "Content-Length: -1", close)}{}`,
  "a length in hexadecimal": `${post(alice, "Content-Length: 0x2", close)}{}`,
  "a length that overflows": `${post(alice, "Content-Length: 18446744073709551618", close)}{}`,
  "an empty length": `${post(alice, "Content-Length:", close)}{}`,
  "an encoding that is none": `${post(alice, "Transfer-Encoding: xchunked", close)}0\r\n\r\n`,
  "chunked twice": `${post(alice, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", close)}0\r\n\r\n`,
  "chunked, then identity": `${post(alice, "Transfer-Encoding: chunked, identity", close)}0\r\n\r\n`,
  "identity, then chunked": `${post(alice, "Transfer-Encoding: identity", "Transfer-Encoding: chunked", close)}0\r\n\r\n`,
  "chunked behind a vertical tab": `${post(alice, "Transfer-Encoding: \vchunked", close)}0\r\n\r\n`,
  "chunks in HTTP/1.0": `${lines(`POST ${SECRETS} HTTP/1.0`, "Host: x", alice, "Transfer-Encoding: chunked")}0\r\n\r\n`,
  "a chunk with a sign": `${post(alice, "Transfer-Encoding: chunked", close)}+2\r\n{}\r\n0\r\n\r\n`,
  "a chunk in 0x": `${post(alice, "Transfer-Encoding: chunked", close)}0x2\r\n{}\r\n0\r\n\r\n`,
  "a chunk that overflows": `${post(alice, "Transfer-Encoding: chunked", close)}10000000000000002\r\n{}\r\n0\r\n\r\n`,
  "a chunk that is longer than it says": `${post(admin, "Transfer-Encoding: chunked")}1\r\n{}\r\n0\r\n\r\n${hidden}`,
  "a chunk's extension": `${post(alice, "Transfer-Encoding: chunked", close)}2;a=b\r\n{}\r\n0\r\n\r\n`,
  "a body of a GET": get(alice, `Content-Length: ${asAdmin.length}`) + asAdmin + hidden,
  "a body of a refused request": post(`Content-Length: ${asAdmin.length}`) + asAdmin + hidden,

  "a method in lower case": lines(`get ${SECRETS} HTTP/1.1`, "Host: x", alice, close),
  "a method in mixed case": lines(`Get ${SECRETS} HTTP/1.1`, "Host: x", alice, close),
  "a method in lower case, by the administrator": lines(`get ${SECRETS} HTTP/1.1`, "Host: x", admin, close),
  "a method that is overridden": get(alice, "X-HTTP-Method-Override: DELETE", close),
  "a path that is overridden": lines(
    "GET /version HTTP/1.1",
    "Host: x",
    alice,
    `X-Original-URL: ${SECRETS}`,
    `X-Rewrite-URL: ${SECRETS}`,
    close,
  ),
  "another host in the target": lines(`GET https://evil${SECRETS} HTTP/1.1`, "Host: x", alice, close),
  "a target without a slash": lines("GET api/v1/secrets HTTP/1.1", "Host: x", admin, close),
  "a target of a star": lines("GET * HTTP/1.1", "Host: x", admin, close),
  CONNECT: lines("CONNECT x:443 HTTP/1.1", "Host: x:443", admin, close),
  "no host": lines(`GET ${SECRETS} HTTP/1.1`, admin, close),
  "two hosts": get("Host: y", admin, close),
  "a host with a path": lines(`GET ${SECRETS} HTTP/1.1`, "Host: x/y", admin, close),
  "two spaces": lines(`GET  ${SECRETS} HTTP/1.1`, "Host: x", admin, close),
  "a space in the target": lines(`GET ${SECRETS} /x HTTP/1.1`, "Host: x", admin, close),
  "HTTP/1.2": lines(`GET ${SECRETS} HTTP/1.2`, "Host: x", admin, close),
  "HTTP/0.9": `GET ${SECRETS}\r\n\r\n`,
  "HTTP/2.0": lines(`GET ${SECRETS} HTTP/2.0`, "Host: x", admin, close),
  "bare line feeds": `GET ${SECRETS} HTTP/1.1\nHost: x\n${alice}\n${close}\n\n`,
  "a header without a name": get(": x", admin, close),
  "a header without a colon": get("nonsense", admin, close),
  "a header with a space in its name": get("X A: b", admin, close),
  "an upgrade to HTTP/2": get(
    "Connection: Upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA",
    alice,
    close,
  ),
  "a header of 2 MB": get(`X-Long: ${"x".repeat(2_000_000)}`, admin, close),
  "a token of 2 MB": get(`Authorization: Bearer ${"x".repeat(2_000_000)}`, close),
  "60,000 headers": get(...Array.from({ length: 60_000 }, (_, index) => `x-${index}: some value`), admin, close),
};

interface Stream {
  readonly fields: readonly (readonly [string, string])[];
  readonly body?: string;
}

const BASE: readonly (readonly [string, string])[] = [
  [":method", "GET"],
  [":scheme", "https"],
  [":authority", "x"],
  [":path", SECRETS],
];
const of = (token: string): readonly [string, string] => ["authorization", `Bearer ${token}`];
const plus = (...fields: (readonly [string, string])[]): Stream => ({ fields: [...BASE, ...fields] });
const instead = (name: string, value: string, ...fields: (readonly [string, string])[]): Stream => ({
  fields: [...BASE.map((field) => (field[0] === name ? ([name, value] as const) : field)), ...fields],
});
const posted = (body: string, ...fields: (readonly [string, string])[]): Stream => ({
  ...instead(":method", "POST", ...fields),
  body,
});

/** The same over HTTP/2. */
export const HTTP2: Readonly<Record<string, Stream>> = {
  "with rights": plus(of(tokens.admin)),
  "without rights": plus(of(tokens.alice)),
  "without credentials": plus(),
  "two tokens, the first without rights": plus(of(tokens.alice), of(tokens.admin)),
  "two tokens, the second without rights": plus(of(tokens.admin), of(tokens.alice)),
  "two tokens, the first unknown": plus(of("nobody"), of(tokens.admin)),
  "two tokens, the first empty": plus(["authorization", ""], of(tokens.admin)),
  "a name in capitals": plus(["Authorization", `Bearer ${tokens.admin}`]),
  "a name with a space": plus(["authorization ", `Bearer ${tokens.admin}`]),
  "a line feed in a value": plus(["x-a", `b\nauthorization: Bearer ${tokens.admin}`]),
  "a carriage return in a value": plus(["x-a", `b\r\nauthorization: Bearer ${tokens.admin}`]),
  "a zero byte in a token": plus(["authorization", `Bearer \0${tokens.admin}`]),
  "spaces around a value": plus(["authorization", ` Bearer ${tokens.admin} `]),
  "an encoding": plus(of(tokens.admin), ["transfer-encoding", "chunked"]),
  "a connection": plus(of(tokens.admin), ["connection", "keep-alive"]),
  "an upgrade": plus(of(tokens.admin), ["upgrade", "websocket"]),
  te: plus(of(tokens.admin), ["te", "gzip"]),
  "another host": plus(of(tokens.alice), ["host", "y"]),
  "two paths": { fields: [...BASE, [":path", "/version"], of(tokens.alice)] },
  "two methods": { fields: [[":method", "DELETE"], ...BASE, of(tokens.alice)] },
  "a pseudo header behind others": { fields: [...BASE.slice(0, 3), of(tokens.admin), [":path", SECRETS]] },
  "an unknown pseudo header": { fields: [...BASE, [":user", "admin"], of(tokens.admin)] },
  "a status": { fields: [...BASE, [":status", "200"], of(tokens.admin)] },
  "no path": { fields: [...BASE.slice(0, 3), of(tokens.admin)] },
  "no method": { fields: [...BASE.slice(1), of(tokens.admin)] },
  "an empty path": instead(":path", "", of(tokens.admin)),
  "a path without a slash": instead(":path", "api/v1/secrets", of(tokens.admin)),
  "a path of a star": instead(":path", "*", of(tokens.admin)),
  "a path with a host": instead(":path", `https://evil${SECRETS}`, of(tokens.alice)),
  "a path with a space": instead(":path", `${SECRETS} HTTP/1.1`, of(tokens.alice)),
  "a path with a line feed": instead(":path", `${SECRETS}\n`, of(tokens.alice)),
  "a path with two slashes": instead(":path", `/${SECRETS}`, of(tokens.alice)),
  "a method in lower case": instead(":method", "get", of(tokens.alice)),
  "a method with a line feed": instead(":method", "GET\n", of(tokens.alice)),
  "the scheme http": instead(":scheme", "http", of(tokens.alice)),
  CONNECT: instead(":method", "CONNECT", of(tokens.admin)),
  "an authority with a user": instead(":authority", "admin@x", of(tokens.alice)),
  "a length without a body": plus(of(tokens.admin), ["content-length", "5"]),
  "a body that is longer than it says": posted("{}{}", of(tokens.alice), ["content-length", "2"]),
  "a body that is shorter than it says": posted("{}", of(tokens.alice), ["content-length", "4"]),
  "two lengths": posted("{}", of(tokens.alice), ["content-length", "2"], ["content-length", "3"]),
  "a negative length": posted("{}", of(tokens.alice), ["content-length", "-1"]),
};

const STRICT = "Node's parser is stricter";
const LENIENT = "Node's parser skips spaces";
const NGHTTP2 = "nghttp2 refuses the stream, net/http answers 400 or takes it";
const DROPPED = "nghttp2 leaves the field out, net/http resets the stream or trims the value";

/** Cases in which the stream is reset instead if the wrong body arrives before the response was sent. */
export const RESET_IF_EARLY: ReadonlySet<string> = new Set(["h2 a body that is longer than it says"]);

/**
 * Cases with another response of Binnacle: the response, and why. It accepts none that kube-apiserver rejects, except
 * for spaces in the request line.
 */
export const DIFFERENT: Readonly<Record<string, readonly [answer: string, reason: string]>> = {
  "a token on the next line": ["400", STRICT],
  "a token behind a bare line feed": ["400", STRICT],
  "length and chunks": ["501", "a request with both is always refused"],
  "chunks and length": ["400", "a request with both is always refused"],
  "two lengths that are the same": ["400", STRICT],
  "a chunk that is longer than it says": ["", "the connection is closed"],
  "a method in lower case": ["400", STRICT],
  "a method in mixed case": ["400", STRICT],
  "a method in lower case, by the administrator": ["400", STRICT],
  CONNECT: ["", "the connection is closed"],
  "two spaces": ["200", LENIENT],
  "HTTP/1.2": ["400", STRICT],
  "bare line feeds": ["400", STRICT],
  "h2 a name with a space": ["403", DROPPED],
  "h2 a line feed in a value": ["403", DROPPED],
  "h2 a carriage return in a value": ["403", DROPPED],
  "h2 a zero byte in a token": ["403", DROPPED],
  "h2 spaces around a value": ["403", DROPPED],
  "h2 an encoding": ["refused", NGHTTP2],
  "h2 a connection": ["refused", NGHTTP2],
  "h2 an upgrade": ["refused", NGHTTP2],
  "h2 te": ["refused", NGHTTP2],
  "h2 a path of a star": ["refused", NGHTTP2],
  "h2 a path with a space": ["refused", NGHTTP2],
  "h2 a length without a body": ["refused", NGHTTP2],
  "h2 a body that is shorter than it says": ["refused", NGHTTP2],
  "h2 two lengths": ["refused", NGHTTP2],
};
