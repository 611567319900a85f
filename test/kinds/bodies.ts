import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { apiVersionOf } from "../../src/base/api/object.ts";
import type { ResourceDefinition } from "../../src/resources/model/definition.ts";

/** What a client sends to create an object. */
export interface Body {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string } & Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

interface Scenario {
  readonly steps: readonly { method: string; path: string; query?: unknown; body?: Body }[];
}

/** Names that keep the objects of one test apart from those of all others. */
export interface Place {
  readonly namespace: string;
  readonly id: string;
  /** Differs between tests; from 1 to 250. */
  readonly number: number;
}

const scenarios = path.join(import.meta.dirname, "..", "golden", "scenarios");

/**
 * A valid body of a kind in a version: from its golden scenario, from the table below, or from the scenario of another
 * version with the same shape. A kind found nowhere gets a body with nothing but a name.
 */
export function bodyOf({ group, kind, plural, versions }: ResourceDefinition, version: string, place: Place): Body {
  const apiVersion = apiVersionOf(group, version);
  const resource = (name: string) => `${group || "core"}-${name}-${plural}`;
  const written = ownBodies(place)[`${group}/${plural}`];
  const recorded = recordedBody(resource(version), place);
  if (recorded) return recorded;
  if (written) return { apiVersion, kind, ...written, metadata: { name: place.id, ...(written.metadata as object) } };
  for (const other of versions) {
    const found = recordedBody(resource(other.name), place);
    if (found) return { ...found, apiVersion };
  }
  return { apiVersion, kind, metadata: { name: place.id } };
}

function recordedBody(resource: string, { namespace, id }: Place): Body | undefined {
  for (const area of ["kind", "more"]) {
    const file = path.join(scenarios, `${area}-${resource}.json`);
    if (!existsSync(file)) continue;
    const text = readFileSync(file, "utf8")
      .replace(/\$\{ns\}/g, namespace)
      .replace(/\$\{id\}/g, id);
    const { steps } = JSON.parse(text) as Scenario;
    const create = steps.find(({ method, query, body }) => method === "POST" && query === undefined && body);
    if (create?.body) return create.body;
  }
  return undefined;
}

/** A PKCS #10 request of a throw-away key, for nobody. */
const CERTIFICATE_REQUEST =
  "MH8wMwIBADAAMCowBQYDK2VwAyEA4FI6CauAbDEONv5UxARY38B5B1M3cex8SBUrFF6q1ragADAFBgMrZXADQQ" +
  "AhaSorKU3GkYpeWga099/+BysVatAbZDEEryXTT33xWQbF6BGZj3zxBfz+hznyUKkRwQZt258ppNO4xruLNNQB";

/** Bodies of the kinds that no scenario is about, by group and plural. */
function ownBodies({ namespace, id, number }: Place): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const uid = "7b5c2c1e-0000-4000-8000-000000000001";
  const policy = { basic: {} };
  return {
    "certificates.k8s.io/podcertificaterequests": {
      spec: {
        ...{ signerName: "example.com/one", podName: "one", podUID: uid, serviceAccountName: "default" },
        ...{ serviceAccountUID: uid, nodeName: "one", nodeUID: uid, stubPKCS10Request: CERTIFICATE_REQUEST },
      },
    },
    "networking.k8s.io/ipaddresses": {
      metadata: { name: `192.0.2.${number}` },
      spec: { parentRef: { resource: "services", namespace, name: "one" } },
    },
    "networking.k8s.io/servicecidrs": { spec: { cidrs: [`10.20.${number}.0/24`] } },
    "apiextensions.k8s.io/customresourcedefinitions": {
      metadata: { name: `widgets.${id}.example.com` },
      spec: {
        ...{ group: `${id}.example.com`, scope: "Namespaced" },
        names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    },
    "scheduling.k8s.io/compositepodgroups": {
      spec: { workloadRef: { workloadName: "one", templateName: "one" }, schedulingPolicy: policy },
    },
    "scheduling.k8s.io/podgroups": { spec: { schedulingPolicy: policy } },
    "scheduling.k8s.io/workloads": { spec: { podGroupTemplates: [{ name: "one", schedulingPolicy: policy }] } },
    "resource.k8s.io/resourcepoolstatusrequests": { spec: { driver: "driver.example.com" } },
    "internal.apiserver.k8s.io/storageversions": { metadata: { name: `${id}.widgets` }, spec: {} },
    "lifecycle.k8s.io/evictionrequests": {
      spec: { target: { pod: { name: "one", uid } }, requester: "example.com/one", intent: "Eviction" },
    },
    "lifecycle.k8s.io/evictions": { metadata: { name: uid }, spec: { target: { pod: { name: "one", uid } } } },
  };
}
