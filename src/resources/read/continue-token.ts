import { badRequest } from "../../base/api/api-error.ts";
import { quote } from "../../base/go/quote.ts";
import { parseJsonText } from "../../base/util/parse-json.ts";

/** The `continue` token of a list: the last key returned and the resourceVersion. */
export interface ContinueToken {
  /** The revision of the first page; -1 means latest. */
  readonly revision: number;
  /** The last key already returned, relative to the prefix of the list. */
  readonly after: string;
}

const VERSION = "meta.k8s.io/v1";

/** Encodes the opaque `continue` token. Upstream: `EncodeContinue`. */
export function printContinueToken({ revision, after }: ContinueToken): string {
  const json = JSON.stringify({ v: VERSION, rv: revision, start: `${after}\u0000` });
  return Buffer.from(json).toString("base64url");
}

/** Decodes a `continue` token. Throws 400 with the message of upstream's `DecodeContinue`. */
export function parseContinueToken(text: string): ContinueToken {
  if (!/^[A-Za-z0-9_-]*={0,2}$/.test(text)) {
    const at = text.search(/[^A-Za-z0-9_-]/);
    return fail(`illegal base64 data at input byte ${at}`);
  }
  const bytes = Buffer.from(text, "base64url");
  let token: unknown;
  try {
    token = parseJsonText(bytes.toString());
  } catch {
    return fail(describeSyntaxError(bytes));
  }
  const { v, rv, start } = (token ?? {}) as { v?: unknown; rv?: unknown; start?: unknown };
  if (v !== VERSION) return fail(`server does not recognize this encoded version ${typeof v === "string" ? v : ""}`);
  if (typeof rv !== "number" || rv === 0) return fail(`incorrect encoded start resourceVersion (version ${VERSION})`);
  if (typeof start !== "string" || start === "") return fail(`encoded start key empty (version ${VERSION})`);
  const key = start.slice(start.startsWith("/") ? 1 : 0, start.endsWith("\u0000") ? -1 : undefined);
  if (/(^|\/)\.\.?(\/|$)|\/\//.test(key)) return fail(`${start}`);
  return { revision: rv, after: key };
}

/** The message of Go's decoder for the first character that cannot start a value. */
function describeSyntaxError([first]: Buffer): string {
  if (first === undefined) return "unexpected end of JSON input";
  // Compat: Go's "invalid character" shows a byte as if it were a character.
  const shown = first === 0x22 ? '"' : quote(String.fromCharCode(first)).slice(1, -1);
  return `invalid character '${first === 0x27 ? "\\'" : shown}' looking for beginning of value`;
}

function fail(detail: string): never {
  throw badRequest(`invalid continue token: continue key is not valid: ${detail}`);
}
