/** There was no answer in time. */
export class DeadlineExceeded extends Error {
  override readonly name = "TimeoutError";

  constructor() {
    super("context deadline exceeded");
  }
}

/** A connection could not be made in time. */
export class DialTimeout extends Error {
  constructor() {
    super("dial tcp: i/o timeout");
  }
}

interface SocketError extends NodeJS.ErrnoException {
  readonly hostname?: string;
  readonly address?: string;
  readonly port?: number;
  /** One per address that was tried. */
  readonly errors?: readonly SocketError[];
}

/** What Go says where Node has these codes. */
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

/** Why a server could not be asked, in the words of Go's net package, as far as they are known. */
export function transportError(error: unknown): string {
  const { code, message } = error as SocketError;
  return WORDS.get(String(code))?.(error as SocketError) ?? (message || String(code ?? "EOF"));
}

/** What Node calls a certificate that is not believed, where its code does not begin with `CERT_`. */
const UNVERIFIED: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "INVALID_CA",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Whether a server could not be asked because of its certificate. */
export function isUnverified(error: unknown): boolean {
  const code = String((error as SocketError).code);
  return code.startsWith("CERT_") || UNVERIFIED.has(code);
}

function placeOf(error: SocketError): string {
  const { address = "", port } = error.errors?.at(-1) ?? error;
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
