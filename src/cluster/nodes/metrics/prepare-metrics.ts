import type { KubeObject } from "../../../base/api/object.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import { type ControllerContext, unlessCode } from "../../controllers/shared/controller.ts";

/**
 * The objects of metrics-server's manifest that users notice: the APIService, which has no Service because this server
 * answers, and the ClusterRole that adds the metrics to view, edit and admin.
 */
const OBJECTS: readonly [group: string, plural: string, object: KubeObject][] = [
  [
    "apiregistration.k8s.io",
    "apiservices",
    {
      kind: "APIService",
      apiVersion: "apiregistration.k8s.io/v1",
      metadata: { name: "v1beta1.metrics.k8s.io", labels: { "k8s-app": "metrics-server" } },
      spec: { group: "metrics.k8s.io", version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 },
    },
  ],
  [
    "rbac.authorization.k8s.io",
    "clusterroles",
    {
      kind: "ClusterRole",
      apiVersion: "rbac.authorization.k8s.io/v1",
      metadata: {
        name: "system:aggregated-metrics-reader",
        labels: {
          "k8s-app": "metrics-server",
          "rbac.authorization.k8s.io/aggregate-to-admin": "true",
          "rbac.authorization.k8s.io/aggregate-to-edit": "true",
          "rbac.authorization.k8s.io/aggregate-to-view": "true",
        },
      },
      rules: [{ apiGroups: ["metrics.k8s.io"], resources: ["pods", "nodes"], verbs: ["get", "list", "watch"] }],
    },
  ],
];

/** Creates the objects by which clients find the metrics of nodes and Pods. Those that exist stay as they are. */
export async function prepareMetrics({ resources, client }: ControllerContext): Promise<void> {
  for (const [group, plural, object] of OBJECTS) {
    const resource = storedResource(resources.catalog, group, plural);
    const { name = "" } = object.metadata;
    if (await resources.access.find(group, plural, { namespace: "", name })) continue;
    await client.create(resource, object).catch(unlessCode(409));
  }
}
