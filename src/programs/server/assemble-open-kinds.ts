import { firstObjectRight } from "../../access/authorization/first-object.ts";
import type { Authorizer } from "../../base/api/attributes.ts";
import type { Log } from "../../base/util/environment.ts";
import { OpenKinds, type OpenKindsOptions } from "../../kinds/custom/open/open-kinds.ts";
import { SET_ASIDE } from "../../kinds/custom/open/open-record.ts";
import type { Config } from "./config.ts";

/** Dependencies of resources without a definition. */
export interface OpenKindsParts extends Pick<OpenKindsOptions, "resources" | "parts" | "isOwned"> {
  readonly authorizer: Authorizer;
  readonly log: Log;
}

/** Serves resources without a definition. Undefined if `--custom-objects=defined`. */
export function assembleOpenKinds(
  { customObjects, apiDomain }: Pick<Config, "customObjects" | "apiDomain">,
  { authorizer, log, ...given }: OpenKindsParts,
): OpenKinds | undefined {
  if (customObjects !== "open") return undefined;
  const setAside = (resource: string, count: number) =>
    log.warn(
      `${count} objects of ${resource} are no longer served: the new definition has another kind or scope; they are kept in the store under ${SET_ASIDE}`,
    );
  const report = (error: unknown) =>
    log.error("deleting the record of a resource without a definition failed", { err: error });
  return new OpenKinds({ ...given, apiDomain, requireRight: firstObjectRight(authorizer), setAside, report });
}
