import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import type { JsonObject } from "../../src/base/api/object.ts";
import { makeCa, makeIdentity } from "../../src/base/pki/make-certificate.ts";

/** An AdmissionReview that a webhook received. */
export interface ReceivedReview {
  /** The first part of the path: identifies the sender. */
  readonly from: string;
  /** The second part: the name of the behaviour. */
  readonly behaviour: string;
  readonly query: string;
  readonly headers: IncomingMessage["headers"];
  readonly clientName: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read reviews of any shape
  readonly review: any;
}

/** Responds to a review. An exception closes the connection. */
export type Behaviour = (review: ReceivedReview, response: ServerResponse) => void;

/** A webhook server over TLS on loopback. */
export interface WebhookServer {
  readonly port: number;
  /** `clientConfig.caBundle`. */
  readonly caBundle: string;
  /** Signs client certificates, whose names the server reports. */
  readonly authority: ReturnType<typeof makeCa>;
  /** Received reviews, in order. */
  readonly received: ReceivedReview[];
  /** `clientConfig.url` of a webhook with this behaviour. */
  url(from: string, behaviour: string): string;
  /** Behaviours by their names in paths; initially those of `BEHAVIOURS`. */
  readonly behaviours: Map<string, Behaviour>;
  stop(): Promise<void>;
}

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");

function send(response: ServerResponse, value: unknown, status = 200, type = "application/json"): void {
  const body = typeof value === "string" ? value : JSON.stringify(value);
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) }).end(body);
}

/** A response to a review, in the version of the request. */
export function answerTo({ review }: ReceivedReview, response: JsonObject): JsonObject {
  return {
    kind: "AdmissionReview",
    apiVersion: review.apiVersion,
    response: { uid: review.request.uid, allowed: true, ...response },
  };
}

/** A behaviour that sends this response. */
export function responding(response: JsonObject): Behaviour {
  return (received, out) => send(out, answerTo(received, response));
}

/** A behaviour that responds with a JSON patch. */
export function patching(...operations: readonly JsonObject[]): Behaviour {
  return responding({ patchType: "JSONPatch", patch: base64(operations) });
}

const denial = (status: JsonObject) => responding({ allowed: false, status });
const raw = (status: number, body: string, type?: string): Behaviour => {
  return (_received, response) => send(response, body, status, type);
};

/** Behaviours of webhooks, by their names in paths. */
export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  allow: responding({}),
  marker: responding({}),
  deny: responding({ allowed: false }),
  "deny-message": denial({ message: "no, never" }),
  "deny-reason": denial({ reason: "Conflict" }),
  "deny-code": denial({ code: 418, message: "a teapot", reason: "Teapot" }),
  "deny-low-code": denial({ code: 302, message: "moved", status: "Success" }),
  "deny-details": denial({
    code: 422,
    reason: "Invalid",
    message: "wrong",
    details: { name: "n", kind: "K", causes: [{ reason: "FieldValueInvalid", message: "m", field: "spec.x" }] },
  }),
  "deny-warn": responding({ allowed: false, warnings: ["denied with a warning"] }),
  warn: responding({ warnings: ["a warning", "another 'warning' \"quoted\"", ""] }),
  "warn-long": responding({ warnings: ["x".repeat(5000), "y".repeat(300)] }),
  annotate: responding({ auditAnnotations: { key: "value" } }),
  "status-allowed": responding({ status: { message: "not shown" } }),
  label: patching({ op: "add", path: "/metadata/labels", value: { patched: "yes" } }),
  annotation: patching({ op: "add", path: "/metadata/annotations", value: { patched: "yes" } }),
  again: patching({ op: "add", path: "/metadata/labels", value: { patched: "again" } }),
  data: patching({ op: "add", path: "/data", value: { patched: "yes" } }),
  spec: patching({ op: "add", path: "/spec/terminationGracePeriodSeconds", value: 7 }),
  replicas: patching({ op: "replace", path: "/spec/replicas", value: 5 }),
  unknown: patching({ op: "add", path: "/unknownField", value: { a: 1 } }),
  finalizer: patching({ op: "add", path: "/metadata/finalizers", value: ["example.com/hold"] }),
  rename: patching({ op: "replace", path: "/metadata/name", value: "renamed" }),
  "move-away": patching({ op: "replace", path: "/metadata/namespace", value: "elsewhere" }),
  "test-ok": patching(
    { op: "test", path: "/metadata/missing", value: null },
    { op: "add", path: "/metadata/labels", value: { tested: "yes" } },
  ),
  "test-fails": patching({ op: "test", path: "/metadata/name", value: "another" }),
  "missing-path": patching({ op: "add", path: "/spec/a/b/c", value: 1 }),
  "missing-key": patching({ op: "remove", path: "/metadata/nothing" }),
  "replace-missing": patching({ op: "replace", path: "/metadata/nothing/deep", value: 1 }),
  "move-missing": patching({ op: "move", from: "/metadata/nothing", path: "/metadata/labels" }),
  "copy-missing": patching({ op: "copy", from: "/nothing/at", path: "/metadata/labels" }),
  "no-op-name": patching({ op: "jump", path: "/metadata/name" }),
  "no-path": patching({ op: "add", value: 1 }),
  "wrong-type": patching({ op: "add", path: "/metadata/labels", value: "text" }),
  "wrong-label": patching({ op: "add", path: "/metadata/labels", value: { "not valid!": "x y" } }),
  "no-change": patching({ op: "test", path: "/kind", value: "x" }, { op: "remove", path: "/kind" }),
  nothing: patching(),
  "same-again": patching({ op: "add", path: "/metadata/annotations", value: {} }),
  "not-a-patch": responding({ patchType: "JSONPatch", patch: base64({ op: "add" }) }),
  "patch-text": responding({ patchType: "JSONPatch", patch: Buffer.from("no json").toString("base64") }),
  "patch-base64": responding({ patchType: "JSONPatch", patch: "%%%" }),
  "patch-only": responding({ patch: base64([{ op: "add", path: "/metadata/labels", value: {} }]) }),
  "type-only": responding({ patchType: "JSONPatch" }),
  "type-empty": responding({ patchType: "", patch: base64([{ op: "add", path: "/metadata/labels", value: {} }]) }),
  "type-other": responding({ patchType: "Merge", patch: base64([{ op: "add", path: "/metadata/labels", value: {} }]) }),
  "wrong-uid": (received, out) => send(out, answerTo(received, { uid: "another" })),
  "no-uid": (received, out) => send(out, answerTo(received, { uid: "" })),
  "no-response": ({ review }, out) => send(out, { kind: "AdmissionReview", apiVersion: review.apiVersion }),
  "null-response": ({ review }, out) =>
    send(out, { kind: "AdmissionReview", apiVersion: review.apiVersion, response: null }),
  "no-kind": (received, out) => {
    const { response } = answerTo(received, {});
    send(out, { response });
  },
  "other-kind": (received, out) => send(out, { ...answerTo(received, {}), kind: "Pod" }),
  "other-version": (received, out) => send(out, { ...answerTo(received, {}), apiVersion: "admission.k8s.io/v2" }),
  "beta-version": (received, out) => send(out, { ...answerTo(received, {}), apiVersion: "admission.k8s.io/v1beta1" }),
  "allowed-text": responding({ allowed: "yes" }),
  "warnings-text": responding({ warnings: "text" }),
  "status-code-text": responding({ allowed: false, status: { code: "x" } }),
  "unknown-members": responding({ surprise: true }),
  yaml: ({ review }, out) => {
    const { uid } = review.request;
    send(out, `kind: AdmissionReview\napiVersion: ${review.apiVersion}\nresponse:\n  uid: ${uid}\n  allowed: true\n`);
  },
  text: raw(200, "hello", "text/plain"),
  html: raw(200, "<html></html>", "text/html"),
  empty: raw(200, ""),
  list: raw(200, "[]"),
  number: raw(200, "17"),
  "half-json": raw(200, '{"kind":'),
  "code-201": (received, out) => send(out, answerTo(received, {}), 201),
  "code-400": raw(400, "bad", "text/plain"),
  "code-401": raw(401, "who"),
  "code-403": raw(403, "not you", "text/plain"),
  "code-404": raw(404, "nothing here", "text/plain"),
  "code-405": raw(405, ""),
  "code-409": raw(409, ""),
  "code-418": raw(418, "teapot", "text/plain"),
  "code-422": raw(422, "unprocessable", "text/plain"),
  "code-500": raw(500, "broken", "text/plain"),
  "code-500-json": raw(500, '{"a":1}'),
  "code-502": raw(502, "", "text/plain"),
  "code-503": raw(503, "later", "text/plain"),
  "code-504": raw(504, ""),
  status: raw(403, JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", message: "told", code: 403 })),
  "status-500": raw(
    500,
    JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", message: "told", code: 500 }),
  ),
  "status-200": raw(
    200,
    JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", message: "told", code: 500 }),
  ),
  close: (_received, response) => response.destroy(),
  hang: () => {},
};

/**
 * Starts the server on loopback, with a certificate for this address and for Services of the given names in the
 * namespace default.
 */
export async function startWebhookServer(services: readonly string[] = []): Promise<WebhookServer> {
  const now = Date.now();
  const authority = makeCa("webhooks", now);
  const hosts = ["127.0.0.1", "localhost", ...services.map((name) => `${name}.default.svc`)];
  const own = makeIdentity(authority, { commonName: "webhook", hosts }, "server", now);
  const received: ReceivedReview[] = [];
  const behaviours = new Map(Object.entries(BEHAVIOURS));
  const tls = {
    cert: own.certificate,
    key: own.key,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, search } = new URL(request.url ?? "/", "https://x");
    const [from = "", behaviour = ""] = pathname.slice(1).split("/");
    const text = Buffer.concat(await request.toArray()).toString();
    const socket = request.socket as TLSSocket;
    const clientName = socket.authorized ? socket.getPeerCertificate().subject?.CN : undefined;
    const { headers } = request;
    const review: ReceivedReview = {
      ...{ from, behaviour, query: search, headers, review: JSON.parse(text) },
      clientName: typeof clientName === "string" ? clientName : undefined,
    };
    received.push(review);
    const act = behaviours.get(behaviour);
    if (act) act(review, response);
    else response.writeHead(404).end();
  };
  const server: Server = createServer(tls, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    caBundle: Buffer.from(authority.certificate).toString("base64"),
    authority,
    received,
    behaviours,
    url: (from, behaviour) => `https://127.0.0.1:${port}/${from}/${behaviour}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
