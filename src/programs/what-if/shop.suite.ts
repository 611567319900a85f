import type { KubeObject } from "../../base/api/object.ts";
import { widgetsDefinition } from "../../base/util/widgets.suite.ts";

let uids = 0;

/** An object as a server shows it. */
export function stored(object: { readonly metadata: object; readonly [member: string]: unknown }): KubeObject {
  const number = ++uids;
  const made = {
    uid: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
    resourceVersion: String(1000 + number),
    creationTimestamp: "2026-01-01T00:00:00Z",
  };
  return { ...object, metadata: { ...made, ...object.metadata } } as unknown as KubeObject;
}

/** What kubectl, as the manager that applies, owns of an object. */
export const owned = (apiVersion: string, fieldsV1: object) => [
  {
    manager: "kubectl",
    operation: "Apply",
    apiVersion,
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1,
  },
];

/** A ConfigMap of the shop. */
export const configMap = (name: string, data: object, more: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop", ...more },
  data,
});

/** Defines Widgets, of a size from 1 to 3. */
export const widgets = widgetsDefinition({ size: { type: "integer", maximum: 3, default: 1 } });

/** The status of a definition that is served. */
export const established = {
  acceptedNames: widgets.spec.names,
  storedVersions: ["v1"],
  conditions: ["NamesAccepted", "Established"].map((type) => ({
    type,
    status: "True",
    reason: "x",
    message: "x",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  })),
};

/** A Widget of the shop. */
export const widget = (name: string, size?: number) => ({
  apiVersion: "shop.example/v1",
  kind: "Widget",
  metadata: { name, namespace: "shop" },
  spec: size === undefined ? {} : { size },
});

/** A policy about ConfigMaps, with its binding. */
export const policy = [
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "no-secrets-in-maps" },
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        matchPolicy: "Equivalent",
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [
          {
            apiGroups: [""],
            apiVersions: ["v1"],
            operations: ["CREATE", "UPDATE"],
            resources: ["configmaps"],
            scope: "*",
          },
        ],
      },
      validations: [{ expression: "!has(object.data) || !('password' in object.data)", message: "use a Secret" }],
    },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "everywhere" },
    spec: {
      policyName: "no-secrets-in-maps",
      validationActions: ["Deny"],
      matchResources: { matchPolicy: "Equivalent" },
    },
  },
];
