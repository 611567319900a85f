import { badRequest } from "../../api/api-error.ts";
import { quote } from "../../lib/go/quote.ts";

/** The `continue` token of a list: after which key it goes on, and at which resourceVersion. */
export interface ContinueToken {
  /** The moment the first page showed; -1 means the newest. */
  readonly revision: number;
  /** The last key already given, relative to the prefix of the list. */
  readonly after: string;
}

const VERSION = "meta.k8s.io/v1";

/** The opaque `continue` of a list. Upstream: `EncodeContinue`. */
export function printContinueToken({ revision, after }: ContinueToken): string {
  const json = JSON.stringify({ v: VERSION, rv: revision, start: `${after}\u0000` });
  return Buffer.from(json).toString("base64url");
}

/** Reads `continue`. Throws 400 with the text of upstream's `DecodeContinue`. */
export function parseContinueToken(text: string): ContinueToken {
  if (!/^[A-Za-z0-9_-]*={0,2}$/.test(text)) {
    const at = text.search(/[^A-Za-z0-9_-]/);
    return fail(`illegal base64 data at input byte ${at}`);
  }
  const bytes = Buffer.from(text, "base64url");
  let token: unknown;
  try {
    token = JSON.parse(bytes.toString());
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

/** The words of Go's decoder about the first character that cannot begin a value. */
function describeSyntaxError([first]: Buffer): string {
  if (first === undefined) return "unexpected end of JSON input";
  // Compat: Go's "invalid character" shows a byte as if it were a character.
  const shown = first === 0x22 ? '"' : quote(String.fromCharCode(first)).slice(1, -1);
  return `invalid character '${first === 0x27 ? "\\'" : shown}' looking for beginning of value`;
}

function fail(detail: string): never {
  throw badRequest(`invalid continue token: continue key is not valid: ${detail}`);
}
