import { MAX_QUESTION_BYTES, MAX_SMALL_OBJECT_BYTES } from "../../../base/api/body-limits.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { defineKinds, type Row } from "../row.ts";

const question: Pick<Row, "versions" | "verbs" | "storage"> = { versions: ["v1"], verbs: ["create"], storage: "none" };
/** The groups of a subject may be many. */
const aboutOthers: Row["rules"] = { maxBodyBytes: MAX_SMALL_OBJECT_BYTES };
const aboutSelf: Row["rules"] = { maxBodyBytes: MAX_QUESTION_BYTES };

/** The kinds of authorization.k8s.io: the access reviews. */
export const authorizationKinds: ResourceDefinition[] = defineKinds(
  { group: "authorization.k8s.io", schemaPackage: "io.k8s.api.authorization" },
  [
    {
      kind: "LocalSubjectAccessReview",
      plural: "localsubjectaccessreviews",
      ...question,
      actions: { create: "localSubjectAccessReview" },
      rules: aboutOthers,
    },
    {
      kind: "SelfSubjectAccessReview",
      plural: "selfsubjectaccessreviews",
      scope: "Cluster",
      ...question,
      actions: { create: "selfSubjectAccessReview" },
      rules: aboutSelf,
    },
    {
      kind: "SelfSubjectRulesReview",
      plural: "selfsubjectrulesreviews",
      scope: "Cluster",
      ...question,
      actions: { create: "selfSubjectRulesReview" },
      rules: aboutSelf,
    },
    {
      kind: "SubjectAccessReview",
      plural: "subjectaccessreviews",
      scope: "Cluster",
      ...question,
      actions: { create: "subjectAccessReview" },
      rules: aboutOthers,
    },
  ],
);
