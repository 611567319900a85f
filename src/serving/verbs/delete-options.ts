import { badRequest } from "../../base/api/api-error.ts";
import { BodyError, type Call } from "../../base/api/call.ts";
import { isObject } from "../../base/api/object.ts";
import { type DeleteOptions, parseDeleteOptions } from "../../base/api/options.ts";
import { quote } from "../../base/go/quote.ts";
import { decodeBySchema } from "../../data/schema/decode.ts";
import type { Target, VerbContext } from "./target.ts";

const KIND = "DeleteOptions";

/** Reads DeleteOptions from the body, or from the query if there is no body. Throws BadRequest and Invalid. */
export async function readDeleteOptions(context: VerbContext, call: Call, target: Target): Promise<DeleteOptions> {
  const options = await readOptions(context, call);
  const { orphanWarning } = target.resource.definition.rules;
  const isSilent = options.propagationPolicy === undefined && options.orphanDependents === undefined;
  if (orphanWarning !== undefined && isSilent) call.warnings.push(orphanWarning);
  return options;
}

async function readOptions(context: VerbContext, call: Call): Promise<DeleteOptions> {
  try {
    const { value, written, isEmpty } = await call.body();
    const { query } = call.request;
    if (isEmpty) return parseDeleteOptions(query, undefined);
    const { kind = KIND, apiVersion = "v1" } = isObject(value) ? value : {};
    if (kind !== KIND) {
      const scheme = 'in scheme "pkg/api/legacyscheme/scheme.go:30"';
      throw badRequest(
        `no kind ${quote(String(kind))} is registered for version ${quote(String(apiVersion))} ${scheme}`,
      );
    }
    const decoded = decodeBySchema(written?.() ?? value, context.deleteOptionsSchema());
    if (decoded.error !== undefined) throw badRequest(decoded.error);
    // Compat: LogRequestObject receives `metainternalversion` here.
    call.audit?.sent({ ...decoded.value, kind, apiVersion: "meta.k8s.io/__internal" });
    return parseDeleteOptions(query, decoded.value);
  } catch (error) {
    if (error instanceof BodyError) throw badRequest(error.message);
    throw error;
  }
}
