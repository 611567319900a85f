import type { ApiRequest } from "../../base/api/call.ts";

/** Header fields by lower-case name. Repeated fields are arrays. */
export type RequestHeaders = ApiRequest["headers"];

/**
 * The headers of a request. Node joins repeated fields with commas, which is ambiguous for values that contain commas,
 * such as group names. The raw fields are parsed again only if there are repeated fields.
 */
export function readHeaders(joined: RequestHeaders, raw: readonly string[]): RequestHeaders {
  let count = 0;
  for (const _ in joined) count++;
  return count * 2 === raw.length ? joined : separateFields(raw);
}

function separateFields(raw: readonly string[]): RequestHeaders {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    const value = raw[at + 1] ?? "";
    const known = headers[name];
    if (known === undefined) headers[name] = value;
    else if (typeof known === "string") headers[name] = [known, value];
    else known.push(value);
  }
  return headers;
}
