import { deflateRawSync, gzipSync } from "node:zlib";
import type { ScriptedAnswer } from "./backend.ts";

/** A request to a proxy, and what the backend answers. */
export interface ProxyCase {
  readonly name: string;
  readonly method?: string;
  /** What follows `/api/v1`. `POD`, `SERVICE` and `NODE` stand for the proxies of the backend. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
  /** Whether the body is chunked. */
  readonly isChunked?: boolean;
  readonly answer?: ScriptedAnswer;
  /** Why the two servers do not do the same, where they do not. */
  readonly difference?: string;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const WEBSOCKET = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-version": "13",
};
const HTML = { "content-type": "text/html; charset=utf-8" };
const PAGE = `<!DOCTYPE html><html><head><link rel="stylesheet" href="/style.css"><script src='/a.js'></script></head>
<body><a href="/x?y=1&amp;z=2#f">x</a> <a href="relative">r</a> <a href="//other.example/x">o</a> <a href="http://BACKEND/deep">b</a>
<img src="/i.png" alt="/not"> <form action="/post" method="post"></form> <a href="https://other.example/">e</a> <p>/plain</p></body></html>`;

const of = (kind: string, cases: readonly Omit<ProxyCase, "target">[], path = "/"): ProxyCase[] =>
  cases.map((one) => ({ ...one, name: `${kind}: ${one.name}`, target: `${kind}${path}` }));

const redirect = (location: string, status = 302): Omit<ProxyCase, "target"> => ({
  name: `Location ${location} with ${status}`,
  answer: { status, headers: { location }, body: "" },
});

const LOCATIONS = [
  ...["/here?a=b#c", "/a%20b", "relative", "../up", "?query", "#fragment", "", "//other.example/x"],
  ...["https://away.example/x", "http://BACKEND/deep?x=1", "https://BACKEND/tls", "http://SERVER/asked", "/PREFIX/x"],
];

const PATHS = [
  ...[
    "",
    "/",
    "?a=b",
    "/?a=b",
    "/a/b/",
    "/a//b",
    "/a%20b",
    "/a%2Fb",
    "/a+b",
    "/a;b=c",
    "/%E2%82%AC",
    "/a?b=c?d&e=%20f",
  ],
  ...[
    "/a/./b",
    "/a/../b",
    "/..",
    "/a%00b",
    "/:x",
    "/a:b",
    "//x",
    "/a?",
    "/a%3Fb",
    "/'(!*)",
    "/~a",
    "/a%7Eb",
    "/a@b",
    "/%41",
  ],
];

/** What is compared, in this order. */
export const PROXY_CASES: readonly ProxyCase[] = [
  ...["POD", "SERVICE", "NODE", "KUBELET"].flatMap((kind) =>
    METHODS.map((method) => ({
      name: `${kind}: ${method} with a body`,
      target: `${kind}/a/b?x=1`,
      method,
      ...(method === "GET" || method === "HEAD" ? {} : { body: "the body", headers: { "content-type": "text/x" } }),
    })),
  ),
  ...PATHS.map((path) => ({ name: `the path ${JSON.stringify(path)}`, target: `POD${path}` })),
  ...["", "?a=b"].flatMap((path) =>
    ["HEAD", "POST", "DELETE", "OPTIONS"].map((method) => ({
      name: `${method} of the path ${JSON.stringify(path)}`,
      target: `SERVICE${path}`,
      method,
    })),
  ),
  ...LOCATIONS.flatMap((location) => of("POD", [redirect(location)], "/some/path?q=1")),
  ...[201, 301, 303, 304, 307, 308].flatMap((status) => of("SERVICE", [redirect("/here", status)])),
  ...of("POD", [
    { name: "a body that is chunked", method: "POST", body: "in pieces", isChunked: true },
    { name: "no body of a POST", method: "POST" },
    { name: "a body of a GET", method: "GET", body: "of a GET" },
    {
      name: "headers of connections",
      headers: { connection: "x-hop, keep-alive", "x-hop": "1", "keep-alive": "5", "x-own": "kept" },
    },
    {
      name: "headers of proxies before",
      headers: {
        "x-forwarded-for": "10.1.2.3",
        "x-forwarded-host": "h.example",
        "x-forwarded-proto": "http",
        "x-forwarded-uri": "/u",
      },
    },
    {
      name: "credentials",
      headers: { "proxy-authorization": "Basic eDp5", cookie: "a=1; b=2", "x-remote-user": "root" },
    },
    { name: "a header that comes twice", headers: { "x-many": ["1", "2"], accept: ["text/plain", "text/html"] } },
    {
      name: "what a client accepts",
      headers: { "accept-encoding": "gzip, br", accept: "text/html", range: "bytes=0-3" },
    },
    { name: "conditions", headers: { "if-none-match": '"x"', "if-modified-since": "Sat, 01 Jan 2022 00:00:00 GMT" } },
    { name: "an agent without a name", headers: { "user-agent": "" } },
    {
      name: "an upgrade to another protocol",
      headers: { connection: "Upgrade", upgrade: "other" },
      difference: "only WebSocket and SPDY are upgrades (kubernetes#72112)",
    },
    {
      name: "headers of an answer",
      answer: {
        headers: {
          "content-type": "text/plain",
          "set-cookie": ["a=1; Path=/", "b=2"],
          "access-control-allow-origin": "*",
          "access-control-allow-methods": "GET",
          "access-control-allow-headers": "x",
          "access-control-allow-credentials": "true",
          "access-control-expose-headers": "x-y",
          "access-control-max-age": "5",
          "x-own": "kept",
          server: "app",
          "cache-control": "max-age=5",
          via: "1.1 x",
          "www-authenticate": "Basic",
          warning: '299 - "hm"',
        },
      },
    },
    { name: "an answer without a type", answer: { headers: {}, body: "<html><a href='/x'>" } },
    { name: "204", answer: { status: 204, headers: { "x-own": "kept" }, body: "" } },
    { name: "404", answer: { status: 404, body: "nothing" } },
    { name: "500", answer: { status: 500, body: "broken" } },
    { name: "503 with Retry-After", answer: { status: 503, headers: { "retry-after": "5" }, body: "later" } },
    { name: "418", answer: { status: 418, body: "teapot" } },
    { name: "206", answer: { status: 206, headers: { "content-range": "bytes 0-1/5" }, body: "he" } },
    { name: "300 without Location", answer: { status: 300, body: "choose" } },
  ]),
  ...of(
    "POD",
    [
      { name: "a page", answer: { headers: HTML, body: PAGE } },
      { name: "HEAD of a page", method: "HEAD", answer: { headers: HTML, body: PAGE } },
      { name: "a page with a length", answer: { headers: { ...HTML, "content-length": "LENGTH" }, body: PAGE } },
      {
        name: "a page by gzip",
        headers: { "accept-encoding": "gzip" },
        answer: { headers: { ...HTML, "content-encoding": "gzip" }, body: gzipSync(PAGE) },
      },
      {
        name: "a page by deflate",
        headers: { "accept-encoding": "deflate" },
        answer: { headers: { ...HTML, "content-encoding": "deflate" }, body: deflateRawSync(PAGE) },
      },
      {
        name: "a page by what is not known",
        answer: { headers: { ...HTML, "content-encoding": "x-own" }, body: PAGE },
        difference: "the real server breaks off",
      },
      { name: "a page with 404", answer: { status: 404, headers: HTML, body: PAGE } },
      { name: "no page, of the same text", answer: { headers: { "content-type": "text/plain" }, body: PAGE } },
      { name: "XHTML", answer: { headers: { "content-type": "application/xhtml+xml" }, body: PAGE } },
      { name: "TEXT/HTML", answer: { headers: { "content-type": "TEXT/HTML" }, body: PAGE } },
    ],
    "/dir/page",
  ),
  { name: "a page of a service", target: "SERVICE/dir/page", answer: { headers: HTML, body: PAGE } },
  { name: "a page of a node", target: "NODE/dir/page", answer: { headers: HTML, body: PAGE } },
  { name: "a redirect of a node", target: "NODE/dir", answer: redirect("/here").answer ?? {} },
  {
    name: "a redirect of a kubelet to another host",
    target: "KUBELET/elsewhere",
    difference: "a kubelet sends nobody to another host (CVE-2020-8559)",
  },
  ...["POD", "SERVICE", "NODE"].flatMap((kind) =>
    of(
      kind,
      [
        { name: "a WebSocket", headers: WEBSOCKET },
        { name: "SPDY", method: "POST", headers: { connection: "Upgrade", upgrade: "SPDY/3.1" } },
        {
          name: "a WebSocket that is refused",
          headers: WEBSOCKET,
          answer: {
            raw: "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nX-Own: kept\r\nContent-Length: 2\r\n\r\nno",
          },
        },
        {
          name: "a WebSocket that is answered 200",
          headers: WEBSOCKET,
          answer: { raw: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" },
        },
        {
          name: "a WebSocket that is sent elsewhere",
          headers: WEBSOCKET,
          answer: { raw: "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n" },
        },
      ],
      "/socket?a=b",
    ),
  ),
  {
    name: "a token among the protocols of a WebSocket",
    target: "POD/socket",
    headers: { ...WEBSOCKET, "sec-websocket-protocol": "base64url.bearer.authorization.k8s.io.YWRtaW50b2tlbg, own" },
    difference: "the real server passes the token on when the client has another credential, too",
  },
  { name: "by https", target: "/namespaces/default/pods/https:web:SECURE/proxy/tls?x=1" },
  { name: "a service by https", target: "/namespaces/default/services/https:svc:tls/proxy/tls" },
  { name: "a node by https", target: "/nodes/https:one:SECURE/proxy/tls" },
  { name: "TLS by http", target: "/namespaces/default/pods/http:web:SECURE/proxy/" },
  { name: "http by https", target: "/namespaces/default/pods/https:web:PORT/proxy/" },
  { name: "the first port of a pod", target: "/namespaces/default/pods/web/proxy/first" },
  { name: "a service by its number", target: "/namespaces/default/services/svc:80/proxy/number" },
  { name: "a service without a port", target: "/namespaces/default/services/svc/proxy/" },
  { name: "a service with one port and no name", target: "/namespaces/default/services/plain/proxy/unnamed" },
  { name: "a service's number that it does not have", target: "/namespaces/default/services/svc:81/proxy/" },
  { name: "a service's name that it does not have", target: "/namespaces/default/services/svc:no/proxy/" },
  { name: "a service that nobody answers for", target: "/namespaces/default/services/idle:http/proxy/" },
  { name: "no such service", target: "/namespaces/default/services/none:http/proxy/" },
  { name: "no such pod", target: "/namespaces/default/pods/none/proxy/" },
  { name: "no such node", target: "/nodes/none/proxy/" },
  { name: "a pod without an address", target: "/namespaces/default/pods/new/proxy/" },
  { name: "a pod on loopback", target: "/namespaces/default/pods/loop/proxy/" },
  { name: "a port where nobody answers", target: "/namespaces/default/pods/web:1/proxy/" },
  { name: "a node's port where nobody answers", target: "/nodes/one:1/proxy/" },
  { name: "an upgrade where nobody answers", target: "/namespaces/default/pods/web:1/proxy/", headers: WEBSOCKET },
  ...["ftp:web:80", "a:b:c:d", ":web", "web:", "http:web"].map((id) => ({
    name: `the name ${id}`,
    target: `/namespaces/default/pods/${id}/proxy/`,
  })),
  { name: "another method", target: "POD/", method: "TRACE" },
];
