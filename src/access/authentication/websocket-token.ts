import { isUtf8 } from "node:buffer";
import { proceed } from "../../base/util/eventually.ts";
import { AuthenticationError, type Authenticator, type Credentials } from "./authenticator.ts";

const PREFIX = "base64url.bearer.authorization.k8s.io.";
const HEADER = "sec-websocket-protocol";

/**
 * Reads a bearer token that a browser sends as a WebSocket subprotocol, because it cannot set headers. Compat: like
 * `ProtocolAuthenticator`. If the token is accepted, it is removed from the subprotocols to negotiate.
 */
export function webSocketToken(tokens: Authenticator): Authenticator {
  return {
    authenticate(credentials) {
      if (!isWebSocket(credentials)) return undefined;
      const { token, others } = readProtocols(credentials.headers[HEADER]);
      if (token === "") return undefined;
      if (others.length === 0) throw new AuthenticationError("missing additional subprotocol");
      const { audiences } = credentials;
      const shown = { bearerToken: token, headers: {}, ...(audiences ? { audiences } : {}) };
      return proceed(tokens.authenticate(shown), (found) => {
        if (found === undefined) throw new AuthenticationError("invalid bearer token");
        const headers: Record<string, unknown> = credentials.headers;
        headers[HEADER] = others.join(",");
        return found;
      });
    },
  };
}

/** Compat: `wsstream.IsWebSocketRequest`. */
function isWebSocket({ headers: { upgrade, connection } }: Credentials): boolean {
  if (typeof upgrade !== "string" || upgrade.toLowerCase() !== "websocket") return false;
  const [first = ""] = typeof connection === "string" ? [connection] : (connection ?? []);
  return first.split(",").some((word) => word.trim().toLowerCase() === "upgrade");
}

function readProtocols(header: Credentials["headers"][string]): { token: string; others: string[] } {
  const lines = typeof header === "string" ? [header] : (header ?? []);
  const others: string[] = [];
  let token: string | undefined;
  for (const protocol of lines.flatMap((line) => line.split(",")).map((text) => text.trim())) {
    if (!protocol.startsWith(PREFIX)) others.push(protocol);
    else if (token !== undefined)
      throw new AuthenticationError("multiple base64.bearer.authorization tokens specified");
    else token = decode(protocol.slice(PREFIX.length));
  }
  return { token: token ?? "", others };
}

function decode(text: string): string {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) {
    throw new AuthenticationError("invalid base64.bearer.authorization token encoding");
  }
  const bytes = Buffer.from(text, "base64url");
  if (!isUtf8(bytes)) throw new AuthenticationError("invalid base64.bearer.authorization token");
  return bytes.toString();
}
