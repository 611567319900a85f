import type { Schema } from "../../../data/schema/schema.ts";

const TEXT: Schema = { type: "string" };
const INT32: Schema = { type: "integer", format: "int32" };

function struct(component: string, properties: Readonly<Record<string, Schema>>): Schema {
  return { component, type: "object", properties: new Map(Object.entries(properties)) };
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

const cause = struct(`${META}.StatusCause`, { reason: TEXT, message: TEXT, field: TEXT });
const details = struct(`${META}.StatusDetails`, {
  name: TEXT,
  group: TEXT,
  kind: TEXT,
  uid: TEXT,
  causes: { type: "array", items: cause },
  retryAfterSeconds: INT32,
});
const listMeta = struct(`${META}.ListMeta`, { selfLink: TEXT, resourceVersion: TEXT, continue: TEXT });
const status = struct(`${META}.Status`, {
  kind: TEXT,
  apiVersion: TEXT,
  metadata: listMeta,
  status: TEXT,
  message: TEXT,
  reason: TEXT,
  details,
  code: INT32,
});

/** Schema of the response of an AdmissionReview. v1 and v1beta1 have the same fields. */
export function reviewSchema(version: string): Schema {
  const name = `io.k8s.api.admission.${version}`;
  const response = struct(`${name}.AdmissionResponse`, {
    uid: TEXT,
    allowed: { type: "boolean" },
    status,
    patch: { type: "string", format: "byte" },
    patchType: { ...TEXT, nullable: true },
    auditAnnotations: { type: "object", values: TEXT },
    warnings: { type: "array", items: TEXT },
  });
  return struct(`${name}.AdmissionReview`, { kind: TEXT, apiVersion: TEXT, request: {}, response });
}
