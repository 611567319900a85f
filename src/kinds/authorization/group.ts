import type { ResourceDefinition } from "../../resources/definition.ts";
import { defineKinds, type Row } from "../row.ts";

const question: Pick<Row, "versions" | "verbs" | "storage"> = { versions: ["v1"], verbs: ["create"], storage: "none" };

/** Questions about what somebody may do. */
export const authorizationKinds: ResourceDefinition[] = defineKinds(
  { group: "authorization.k8s.io", schemaPackage: "io.k8s.api.authorization" },
  [
    { kind: "LocalSubjectAccessReview", plural: "localsubjectaccessreviews", ...question },
    { kind: "SelfSubjectAccessReview", plural: "selfsubjectaccessreviews", scope: "Cluster", ...question },
    { kind: "SelfSubjectRulesReview", plural: "selfsubjectrulesreviews", scope: "Cluster", ...question },
    { kind: "SubjectAccessReview", plural: "subjectaccessreviews", scope: "Cluster", ...question },
  ],
);
