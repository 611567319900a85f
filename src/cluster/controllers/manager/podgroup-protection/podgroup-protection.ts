import type { KubeObject } from "../../../../base/api/object.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { type Controller, idleController, unlessCode } from "../../shared/controller.ts";
import { keyOf } from "../../shared/informer.ts";
import { loop, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { hasFinished } from "../../shared/pods.ts";

const NAME = "podgroup-protection-controller";
const FINALIZER = "scheduling.k8s.io/podgroup-protection";

const groupKeyOf = ({ metadata, spec }: Pod): string[] => {
  const { podGroupName } = spec?.schedulingGroup ?? {};
  return podGroupName === undefined ? [] : [`${metadata.namespace}/${podGroupName}`];
};
const activeGroupKeyOf = (pod: Pod): string[] => (hasFinished(pod) ? [] : groupKeyOf(pod));

/**
 * podgroup-protection-controller: removes the protection finalizer of a deleted PodGroup when none of its Pods runs any
 * more.
 *
 * Compat: it runs only with the gate GenericWorkload.
 */
export function podGroupProtection({ resources, client, informers, report }: ManagerContext): Controller {
  if (!resources.features.enabled("GenericWorkload")) return idleController(NAME);
  const { informer: groups } = informers.of<KubeObject>("scheduling.k8s.io", "podgroups");
  const { informer: pods } = informers.of<Pod>("", "pods");
  const activePods = pods.index(activeGroupKeyOf);
  const isLeaving = ({ metadata }: KubeObject) =>
    metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(FINALIZER) ?? false);

  return loop({
    name: NAME,
    workers: 5,
    clock: resources.clock,
    report,
    sources: [
      source(groups, (queue) => (_, after) => {
        if (after && isLeaving(after)) queue.add(keyOf(after));
      }),
      source(pods, (queue) => (before, after) => {
        const ended = after === undefined ? before : after;
        if (ended && (after === undefined || hasFinished(after))) for (const key of groupKeyOf(ended)) queue.add(key);
      }),
    ],
    async sync(key) {
      const group = groups.get(key);
      if (group === undefined || !isLeaving(group)) return;
      for (const _ of activePods.get(key)) return;
      const finalizers = group.metadata.finalizers?.filter((one) => one !== FINALIZER) ?? [];
      const changed = { ...group, metadata: { ...group.metadata, finalizers } };
      await client.update(groups.resource, changed).catch(unlessCode(404));
    },
  });
}
