import { MAX_SLOW_BYTES } from "../api/body-limits.ts";
import { isObject } from "../api/object.ts";
import { quote } from "../go/quote.ts";
import { parseJsonText } from "../util/parse-json.ts";
import type { HttpAnswer } from "./http-client.ts";

/** An error response of a server. */
export interface Refusal {
  readonly message: string;
  readonly code: number;
}

const MAX_SHOWN_BYTES = 2048;

const MESSAGES: ReadonlyMap<number, string> = new Map([
  [400, "the server rejected our request for an unknown reason"],
  [401, "the server has asked for the client to provide credentials"],
  [404, "the server could not find the requested resource"],
  [405, "the server does not allow this method on the requested resource"],
  [409, "the server reported a conflict"],
  [422, "the server rejected our request due to an error in our request"],
  [429, "the server has received too many requests and has asked us to try again later"],
  [503, "the server is currently unable to handle the request"],
  [504, "the server was unable to return a response in the time allotted, but may still be processing the request"],
]);
/** Codes whose message is the body. */
const BODY_MESSAGES: ReadonlySet<number> = new Set([403, 406, 415]);

/**
 * The error of a response in the words of client-go: the Status in the body, or a message for the code. Undefined if
 * the response is successful. Upstream: `NewGenericServerResponse`.
 */
export function serverResponse({ status, headers, body }: HttpAnswer): Refusal | undefined {
  if (status >= 200 && status <= 206) return undefined;
  const type = headers["content-type"] ?? "";
  const isText = type === "" || type.startsWith("text/");
  const shown = isText ? body.subarray(0, MAX_SHOWN_BYTES).toString().trim() : "unknown";
  const reported = statusIn(body);
  if (reported) return reported;
  const known = MESSAGES.get(status) ?? (BODY_MESSAGES.has(status) ? shown : undefined);
  if (known !== undefined) return { message: known, code: status };
  const unknown = `the server responded with the status code ${status} but did not return more information`;
  const broken = `an error on the server (${quote(shown)}) has prevented the request from succeeding`;
  return { message: status >= 500 ? broken : unknown, code: status };
}

function statusIn(body: Buffer): Refusal | undefined {
  // Differs: upstream decodes a Status of any size.
  if (body.length > MAX_SLOW_BYTES) return undefined;
  try {
    const value: unknown = parseJsonText(body.toString());
    if (!isObject(value) || value.kind !== "Status" || value.apiVersion !== "v1" || value.status !== "Failure") {
      return undefined;
    }
    return { message: typeof value.message === "string" ? value.message : "", code: Number(value.code) || 500 };
  } catch {
    return undefined;
  }
}
