/** The request timed out. */
export class DeadlineExceeded extends Error {
  override readonly name = "TimeoutError";

  constructor() {
    super("context deadline exceeded");
  }
}

/** Establishing a connection timed out. */
export class DialTimeout extends Error {
  constructor() {
    super("dial tcp: i/o timeout");
  }
}

interface SocketError extends NodeJS.ErrnoException {
  readonly hostname?: string;
  readonly address?: string;
  readonly port?: number;
  /** One per attempted address. */
  readonly errors?: readonly SocketError[];
}

/** Go's messages for Node's error codes. */
const WORDS: ReadonlyMap<string, (error: SocketError) => string> = new Map([
  ["ECONNREFUSED", (error: SocketError) => `dial tcp ${placeOf(error)}: connect: connection refused`],
  ["EHOSTUNREACH", (error: SocketError) => `dial tcp ${placeOf(error)}: connect: no route to host`],
  ["ENETUNREACH", (error: SocketError) => `dial tcp ${placeOf(error)}: connect: network is unreachable`],
  ["ECONNRESET", ({ message }: SocketError) => (message === "socket hang up" ? "EOF" : message)],
  [
    "EPROTO",
    ({ message }: SocketError) =>
      message.includes("wrong version number") ? "tls: first record does not look like a TLS handshake" : message,
  ],
  ["ENOTFOUND", ({ hostname }: SocketError) => `dial tcp: lookup ${hostname}: no such host`],
  ["ETIMEDOUT", () => "context deadline exceeded"],
  ["ABORT_ERR", () => "context deadline exceeded"],
]);

/** Why a request failed, in the words of Go's net package where known. */
export function transportError(error: unknown): string {
  const { code, message } = error as SocketError;
  return WORDS.get(String(code))?.(error as SocketError) ?? (message || String(code ?? "EOF"));
}

/** Node's codes for an untrusted certificate that do not begin with `CERT_`. */
const UNVERIFIED: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "INVALID_CA",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Whether a request failed because the server's certificate is not trusted. */
export function isUnverified(error: unknown): boolean {
  const code = String((error as SocketError).code);
  return code.startsWith("CERT_") || UNVERIFIED.has(code);
}

function placeOf(error: SocketError): string {
  const { address = "", port } = error.errors?.at(-1) ?? error;
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
