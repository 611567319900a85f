import { MAX_QUESTION_BYTES, MAX_SMALL_OBJECT_BYTES } from "../../../base/api/body-limits.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { defineKinds, type Row } from "../row.ts";

const review: Pick<Row, "scope" | "versions" | "verbs" | "storage"> = {
  scope: "Cluster",
  versions: ["v1"],
  verbs: ["create"],
  storage: "none",
};

/** The kinds of authentication.k8s.io: TokenReview and SelfSubjectReview. */
export const authenticationKinds: ResourceDefinition[] = defineKinds(
  { group: "authentication.k8s.io", schemaPackage: "io.k8s.api.authentication" },
  [
    {
      ...{ kind: "SelfSubjectReview", plural: "selfsubjectreviews", ...review },
      actions: { create: "selfSubjectReview" },
      rules: { maxBodyBytes: MAX_QUESTION_BYTES },
    },
    {
      ...{ kind: "TokenReview", plural: "tokenreviews", ...review },
      actions: { create: "tokenReview" },
      rules: { isSecret: true, maxBodyBytes: MAX_SMALL_OBJECT_BYTES },
    },
  ],
);
