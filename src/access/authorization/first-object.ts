import { type Authorizer, resourceAttributes } from "../../base/api/attributes.ts";
import type { Call } from "../../base/api/call.ts";
import { forbiddenBy } from "./forbidden.ts";

const REASON = "the first object of a resource or version without a CustomResourceDefinition needs this permission";

/**
 * Checks the right to introduce a resource without a definition: `create` of that resource at the cluster scope. Rights in
 * one namespace are not enough, because the resource appears in discovery for everyone. Throws Forbidden.
 */
export function firstObjectRight(authorizer: Authorizer): (call: Call) => Promise<void> {
  return async ({ user, info: { group, version, resource } }) => {
    const wanted = { verb: "create", apiGroup: group, apiVersion: version, resource };
    const attributes = resourceAttributes(user, wanted);
    const { decision } = await authorizer.authorize(attributes);
    if (decision !== "allow") throw forbiddenBy(attributes, REASON);
  };
}
