import type { Environment, TypeProvider } from "../environment.ts";
import {
  boolType,
  dynType,
  intType,
  listType,
  mapType,
  stringType,
  structType,
  type Type,
  timestampType,
} from "../values/types.ts";
import { authorizerType, resourceCheckType } from "./authorizer.ts";
import { storedExpressions } from "./environment.ts";

const struct = (name: string) => structType(`kubernetes.${name}`);
const texts = listType(stringType);
const labels = mapType(stringType, stringType);
const gvk = struct("GroupVersionKind");
const gvr = struct("GroupVersionResource");
const userInfo = struct("UserInfo");
const request = struct("AdmissionRequest");
const namespaceObject = struct("Namespace");
const spec = struct("NamespaceSpec");
const status = struct("NamespaceStatus");
const condition = struct("NamespaceCondition");
const metadata = struct("NamespaceMetadata");

type Fields = Readonly<Record<string, Type>>;

/** Compat: `BuildRequestType` and `BuildNamespaceType`. Fields that they omit cannot be used. */
const STRUCTS: readonly (readonly [Type, Fields])[] = [
  [gvk, { group: stringType, version: stringType, kind: stringType }],
  [gvr, { group: stringType, version: stringType, resource: stringType }],
  [userInfo, { username: stringType, uid: stringType, groups: texts, extra: mapType(stringType, texts) }],
  [
    request,
    {
      kind: gvk,
      resource: gvr,
      subResource: stringType,
      requestKind: gvk,
      requestResource: gvr,
      requestSubResource: stringType,
      name: stringType,
      namespace: stringType,
      operation: stringType,
      userInfo,
      dryRun: boolType,
      options: dynType,
    },
  ],
  [spec, { finalizers: texts }],
  [
    condition,
    {
      status: stringType,
      type: stringType,
      lastTransitionTime: timestampType,
      message: stringType,
      reason: stringType,
    },
  ],
  [status, { conditions: listType(condition), phase: stringType }],
  [
    metadata,
    {
      name: stringType,
      generateName: stringType,
      namespace: stringType,
      labels,
      annotations: labels,
      UID: stringType,
      creationTimestamp: timestampType,
      deletionGracePeriodSeconds: intType,
      deletionTimestamp: timestampType,
      generation: intType,
      resourceVersion: stringType,
      finalizers: texts,
    },
  ],
  [namespaceObject, { metadata, spec, status }],
];

const BY_NAME: ReadonlyMap<string, { readonly type: Type; readonly fields: ReadonlyMap<string, Type> }> = new Map(
  STRUCTS.map(([type, fields]) => [type.name, { type, fields: new Map(Object.entries(fields)) }]),
);

/** The types with declared fields in admission expressions: AdmissionRequest, Namespace, and their parts. */
export const admissionTypes: TypeProvider = {
  findType: (name) => BY_NAME.get(name)?.type,
  findField: (type, field) => BY_NAME.get(type)?.fields.get(field),
};

/** Variables of an admission expression besides object, oldObject, request and namespaceObject. */
export interface AdmissionVariables {
  readonly params?: boolean;
  readonly authorizer?: boolean;
}

/** Extends an environment for admission expressions. Upstream: `createEnvForOpts`. */
export function admissionEnvironment(base: Environment, { params, authorizer }: AdmissionVariables): Environment {
  return base.extend({
    types: admissionTypes,
    variables: {
      object: dynType,
      oldObject: dynType,
      namespaceObject,
      request,
      ...(params && { params: dynType }),
      ...(authorizer && { authorizer: authorizerType, "authorizer.requestResource": resourceCheckType }),
    },
  });
}

/** The environment of `matchConditions` of stored webhooks. */
export const webhookConditions: Environment = admissionEnvironment(storedExpressions, { authorizer: true });
