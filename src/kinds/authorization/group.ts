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
      actions: { create: "localSubjectAccessReview" },
    },
    {
      kind: "SelfSubjectAccessReview",
      plural: "selfsubjectaccessreviews",
      scope: "Cluster",
      ...question,
      actions: { create: "selfSubjectAccessReview" },
    },
    {
      kind: "SelfSubjectRulesReview",
      plural: "selfsubjectrulesreviews",
      scope: "Cluster",
      ...question,
      actions: { create: "selfSubjectRulesReview" },
    },
    {
      kind: "SubjectAccessReview",
      plural: "subjectaccessreviews",
      scope: "Cluster",
      ...question,
      actions: { create: "subjectAccessReview" },
    },
  ],
);
