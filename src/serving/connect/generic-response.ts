import { type ApiError, type ResourceName, receivedError } from "../../base/api/api-error.ts";
import { quote } from "../../base/go/quote.ts";

type Words = readonly [reason: string, message: string];

const KNOWN: ReadonlyMap<number, Words> = new Map<number, Words>([
  [400, ["BadRequest", "the server rejected our request for an unknown reason"]],
  [401, ["Unauthorized", "the server has asked for the client to provide credentials"]],
  [404, ["NotFound", "the server could not find the requested resource"]],
  [405, ["MethodNotAllowed", "the server does not allow this method on the requested resource"]],
  [409, ["Conflict", "the server reported a conflict"]],
  [422, ["Invalid", "the server rejected our request due to an error in our request"]],
  [429, ["TooManyRequests", "the server has received too many requests and has asked us to try again later"]],
  [503, ["ServiceUnavailable", "the server is currently unable to handle the request"]],
  [
    504,
    [
      "Timeout",
      "the server was unable to return a response in the time allotted, but may still be processing the request",
    ],
  ],
]);

/** Codes whose message is the other server's text. */
const FORWARDED: ReadonlyMap<number, string> = new Map([
  [403, "Forbidden"],
  [406, "NotAcceptable"],
  [415, "UnsupportedMediaType"],
]);

/** Converts an error response of another server. Upstream: `NewGenericServerResponse`. */
export function genericResponse(code: number, { group, resource }: ResourceName, name: string, text: string): ApiError {
  const [reason, message] = wordsOf(code, text);
  const qualified = group === "" ? resource : `${resource}.${group}`;
  return receivedError(code, {
    ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" },
    // Compat: GenericHttpResponseChecker passes an empty verb.
    message: `${message} ( ${qualified} ${name})`,
    ...(reason === "" ? {} : { reason }),
    details: { name, ...(group === "" ? {} : { group }), kind: resource },
    code,
  });
}

function wordsOf(code: number, text: string): Words {
  const forwarded = FORWARDED.get(code);
  if (forwarded !== undefined) return [forwarded, text];
  const known = KNOWN.get(code);
  if (known !== undefined) return known;
  if (code >= 500) {
    return ["InternalError", `an error on the server (${quote(text)}) has prevented the request from succeeding`];
  }
  return ["", `the server responded with the status code ${code} but did not return more information`];
}
