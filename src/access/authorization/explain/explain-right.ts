import { type Attributes, type Authorizer, type Decision, resourceAttributes } from "../../../base/api/attributes.ts";

/** Path of the endpoint. No Kubernetes client uses this path. */
export const EXPLAIN_PATH = "/binnacle/auth/explain";

/**
 * Wraps an authorizer: users who may create SubjectAccessReviews may also request explanations. An explanation reveals
 * no more than many reviews would, apart from the names of roles.
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
    return { ...decided, reason: "explanations require the right to create subjectaccessreviews" };
  };
  return {
    authorize(attributes) {
      const { isResourceRequest, path, verb } = attributes;
      const isAsked = !isResourceRequest && path === EXPLAIN_PATH && verb === "post";
      return isAsked ? orByReviews(attributes) : authorizer.authorize(attributes);
    },
  };
}
