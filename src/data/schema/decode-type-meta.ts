import { isObject, type Json } from "../../base/api/object.ts";
import { wordFor } from "./decode-state.ts";

/**
 * The error if kind or apiVersion of a body cannot be decoded, in the words of kube-apiserver, which decodes them
 * first. Undefined if they can. Null stands for an empty body.
 */
export function typeMetaError(body: Json): string | undefined {
  const prefix = "couldn't get version/kind; json parse error: json: cannot unmarshal";
  if (body === null) return undefined;
  if (!isObject(body)) {
    const members = 'APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\""';
    return `${prefix} ${wordFor(body)} into Go value of type struct { ${members} }`;
  }
  for (const member of Object.keys(body)) {
    const value = body[member] ?? null;
    if ((member !== "kind" && member !== "apiVersion") || value === null || typeof value === "string") continue;
    return `${prefix} ${wordFor(value)} into Go struct field .${member} of type string`;
  }
  return undefined;
}
