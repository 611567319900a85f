import {
  localSubjectAccessReviewHooks,
  selfSubjectAccessReviewHooks,
  selfSubjectRulesReviewHooks,
  subjectAccessReviewHooks,
} from "../../actions/access-reviews.ts";
import type { ResourceDefinition } from "../../resources/model/definition.ts";
import { defineKinds, type Row } from "../row.ts";

const question: Pick<Row, "versions" | "verbs" | "storage"> = { versions: ["v1"], verbs: ["create"], storage: "none" };

/** The kinds of authorization.k8s.io: the access reviews. */
export const authorizationKinds: ResourceDefinition[] = defineKinds(
  { group: "authorization.k8s.io", schemaPackage: "io.k8s.api.authorization" },
  [
    {
      kind: "LocalSubjectAccessReview",
      plural: "localsubjectaccessreviews",
      ...question,
      hooks: localSubjectAccessReviewHooks,
    },
    {
      kind: "SelfSubjectAccessReview",
      plural: "selfsubjectaccessreviews",
      scope: "Cluster",
      ...question,
      hooks: selfSubjectAccessReviewHooks,
    },
    {
      kind: "SelfSubjectRulesReview",
      plural: "selfsubjectrulesreviews",
      scope: "Cluster",
      ...question,
      hooks: selfSubjectRulesReviewHooks,
    },
    {
      kind: "SubjectAccessReview",
      plural: "subjectaccessreviews",
      scope: "Cluster",
      ...question,
      hooks: subjectAccessReviewHooks,
    },
  ],
);
