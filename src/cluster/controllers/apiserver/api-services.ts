import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../../base/api/object.ts";
import { forEachLimited } from "../../../base/util/for-each-limited.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import { type ControllerContext, unlessCode } from "../shared/controller.ts";

/** Discovery priority of a group version. Greater numbers come first. */
export type PriorityOf = (group: string, version: string) => { readonly group: number; readonly version: number };

const GROUP = "apiregistration.k8s.io";
const PLURAL = "apiservices";
const MANAGED_LABEL = "kube-aggregator.kubernetes.io/automanaged";
const ON_START = "onstart";
const WORKERS = 5;

/**
 * Creates an APIService for every served group version, like kube-aggregator's autoregister controller for those that
 * it manages "onstart". Runs once, so an administrator may delete or change them afterwards. APIServices of group
 * versions that are no longer served are deleted; those without the label are not touched.
 */
export async function registerApiServices(context: ControllerContext, priorityOf: PriorityOf): Promise<void> {
  const { resources, client } = context;
  const resource = storedResource(resources.catalog, GROUP, PLURAL);
  const found = await resources.access.list(GROUP, PLURAL, "");
  const current = new Map(found.map((service) => [service.metadata.name ?? "", service]));
  const wanted = new Map<string, KubeObject>();
  for (const { group, versions, presence, isAddOn } of resources.catalog.definitions) {
    // Compat: the aggregator serves its own group without an APIService.
    if (group === resource.definition.group || presence || isAddOn) continue;
    for (const { name: version } of versions) {
      const service = apiService(resource.apiVersion, group, version, priorityOf);
      wanted.set(service.metadata.name ?? "", service);
    }
  }
  await forEachLimited([...wanted], WORKERS, async ([name, service]) => {
    const live = current.get(name);
    if (!live) await client.create(resource, service).catch(unlessCode(409));
    else if (isManaged(live) && !isDeepStrictEqual(live.spec, service.spec)) {
      const { metadata, status, kind, apiVersion } = live;
      const next = { kind, apiVersion, metadata: { ...metadata }, spec: service.spec, status };
      await client.update(resource, next).catch(unlessCode(404, 409));
    }
  });
  for (const [name, { metadata }] of current) {
    if (wanted.has(name) || metadata.labels?.[MANAGED_LABEL] !== ON_START) continue;
    const preconditions = { uid: metadata.uid };
    await client.delete(resource, { namespace: "", name }, { preconditions }).catch(unlessCode(404, 409));
  }
}

function isManaged({ metadata }: KubeObject): boolean {
  const label = metadata.labels?.[MANAGED_LABEL];
  return label === ON_START || label === "true";
}

function apiService(apiVersion: string, group: string, version: string, priorityOf: PriorityOf): KubeObject {
  const priority = priorityOf(group, version);
  return {
    kind: "APIService",
    apiVersion,
    metadata: { name: `${version}.${group}`, labels: { [MANAGED_LABEL]: ON_START } },
    spec: {
      ...(group === "" ? {} : { group }),
      version,
      groupPriorityMinimum: priority.group,
      versionPriority: priority.version,
    },
  };
}
