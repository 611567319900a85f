import { type Attributes, type Authorizer, type Decision, resourceAttributes } from "../../api/attributes.ts";

/** Where explanations are asked for. No Kubernetes client uses this path. */
export const EXPLAIN_PATH = "/binnacle/auth/explain";

/**
 * An authorizer that lets those ask for explanations who may create SubjectAccessReviews: an explanation says no more
 * than many of those would, and what roles are called.
 */
export function withExplainRight(authorizer: Authorizer): Authorizer {
  const orByReviews = async (attributes: Attributes): Promise<Decision> => {
    const decided = await authorizer.authorize(attributes);
    if (decided.decision !== "noOpinion") return decided;
    const review = {
      verb: "create",
      apiGroup: "authorization.k8s.io",
      apiVersion: "v1",
      resource: "subjectaccessreviews",
    };
    const { decision, reason } = await authorizer.authorize(resourceAttributes(attributes.user, review));
    if (decision === "allow") return { decision, ...(reason !== undefined && { reason }) };
    return { ...decided, reason: "only those who may create subjectaccessreviews may ask for explanations" };
  };
  return {
    authorize(attributes) {
      const { isResourceRequest, path, verb } = attributes;
      const isAsked = !isResourceRequest && path === EXPLAIN_PATH && verb === "post";
      return isAsked ? orByReviews(attributes) : authorizer.authorize(attributes);
    },
  };
}
