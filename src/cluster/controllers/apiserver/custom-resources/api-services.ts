import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../../../base/api/object.ts";
import { forEachLimited } from "../../../../base/util/for-each-limited.ts";
import { untilAborted } from "../../../../base/util/until-aborted.ts";
import { WorkQueue } from "../../../../base/util/work-queue.ts";
import { CUSTOM_PRIORITY } from "../../../../kinds/built-in/all.ts";
import type { DefinitionIndex } from "../../../../kinds/custom/definition-index.ts";
import { storedResource } from "../../../../resources/model/stored-resource.ts";
import { type Controller, type ControllerContext, unlessCode } from "../../shared/controller.ts";

const NAME = "crd-autoregister";
const GROUP = "apiregistration.k8s.io";
const PLURAL = "apiservices";
const LABEL = "kube-aggregator.kubernetes.io/automanaged";
const WORKERS = 5;

/**
 * Keeps an APIService for every group version that CustomResourceDefinitions serve. APIServices without the label are
 * not touched. Upstream: the crdRegistrationController with the autoRegisterController.
 */
export function customApiServices(context: ControllerContext, index: DefinitionIndex): Controller {
  const { report, resources } = context;
  return {
    name: NAME,
    async run(signal) {
      const queue = new WorkQueue<string>({
        clock: resources.clock,
        concurrency: 1,
        work: () => register(context, index),
        onError: (error) => {
          if (!signal.aborted) report(NAME, error);
        },
      });
      const unsubscribe = index.subscribe(() => queue.add(NAME));
      queue.add(NAME);
      await untilAborted(signal);
      unsubscribe();
      await queue.close();
    },
  };
}

async function register({ resources, client }: ControllerContext, index: DefinitionIndex): Promise<void> {
  const resource = storedResource(resources.catalog, GROUP, PLURAL);
  const { group, version } = CUSTOM_PRIORITY;
  const wanted = new Map<string, KubeObject>();
  for (const { spec } of index.all) {
    for (const { name = "", served } of spec?.versions ?? []) {
      if (!served) continue;
      wanted.set(`${name}.${spec?.group}`, {
        kind: resource.definition.kind,
        apiVersion: resource.apiVersion,
        metadata: { name: `${name}.${spec?.group}`, labels: { [LABEL]: "true" } },
        spec: { group: spec?.group ?? "", version: name, groupPriorityMinimum: group, versionPriority: version },
      });
    }
  }
  const found = await resources.access.list(GROUP, PLURAL, "");
  const current = new Map(found.map((service) => [service.metadata.name ?? "", service]));
  await forEachLimited([...wanted], WORKERS, async ([name, service]) => {
    const live = current.get(name);
    if (!live) await client.create(resource, service).catch(unlessCode(409));
    else if (live.metadata.labels?.[LABEL] === "true" && !isDeepStrictEqual(live.spec, service.spec)) {
      const next = { ...live, metadata: { ...live.metadata }, spec: service.spec };
      await client.update(resource, next).catch(unlessCode(404, 409));
    }
  });
  for (const [name, { metadata }] of current) {
    if (wanted.has(name) || metadata.labels?.[LABEL] !== "true") continue;
    const preconditions = { uid: metadata.uid };
    await client.delete(resource, { namespace: "", name }, { preconditions }).catch(unlessCode(404, 409));
  }
}
