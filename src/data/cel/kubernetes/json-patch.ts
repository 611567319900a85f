import type { Library } from "../standard/library.ts";
import { stringType } from "../values/types.ts";
import { declare, global } from "./declare.ts";

const escapeKey = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** kubernetes.jsonpatch: jsonpatch.escapeKey, for MutatingAdmissionPolicies. */
export const jsonPatchLibrary: Library = {
  name: "kubernetes.jsonpatch",
  functions: [
    declare("jsonpatch.escapeKey", global("string_jsonpatch_escapeKey_string", [stringType], stringType, escapeKey)),
  ],
};
