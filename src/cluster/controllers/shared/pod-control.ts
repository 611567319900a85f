import { dns1123Subdomain } from "../../../base/api/names.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import type { Pod, PodTemplateSpec } from "../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import type { ObjectClient } from "../../../resources/object-client.ts";
import { withoutFinalizer } from "./claim.ts";
import { isNamespaceTerminating, isStatus, messageOf } from "./controller.ts";
import type { EventRecorder } from "./event-recorder.ts";
import { type Informer, keyOf } from "./informer.ts";
import { controllerReference } from "./owners.ts";

/** What `PodControl` works with. */
export interface PodControlOptions {
  readonly client: ObjectClient;
  readonly recorder: EventRecorder;
  readonly pods: Informer<Pod>;
  /** The kind of the objects that control the Pods. */
  readonly ownerResource: ServedResource;
}

/** Creates and deletes the Pods of a controller, and records Events about it. Upstream: RealPodControl */
export class PodControl {
  readonly #options: PodControlOptions;

  constructor(options: PodControlOptions) {
    this.#options = options;
  }

  /**
   * Creates a Pod from the template. Resolves once the informer knows it. `generateName` is optional. If omitted, it
   * follows from the name of the owner.
   */
  async create(owner: KubeObject, template: PodTemplateSpec, generateName?: string): Promise<void> {
    const { client, recorder, pods, ownerResource } = this.#options;
    if (Object.keys(template.metadata?.labels ?? {}).length === 0) throw new Error("unable to create pods, no labels");
    try {
      const pod = podFrom(template, ownerResource, owner);
      if (generateName !== undefined) pod.metadata.generateName = generateName;
      const created = await client.create(pods.resource, pod);
      const { name, resourceVersion } = created.metadata;
      recorder.record(ownerResource, owner, "Normal", "SuccessfulCreate", `Created pod: ${name}`);
      await pods.sees(resourceVersion);
    } catch (error) {
      // Nothing can be created there any more, and the owner will be deleted as well.
      if (isNamespaceTerminating(error)) return;
      recorder.record(ownerResource, owner, "Warning", "FailedCreate", `Error creating: ${messageOf(error)}`);
      throw error;
    }
  }

  /** Deletes a Pod. Resolves once the informer knows that it is being deleted or gone. */
  async delete(owner: KubeObject, pod: Pod): Promise<void> {
    const { client, recorder, pods, ownerResource } = this.#options;
    const { namespace = "", name = "" } = pod.metadata;
    try {
      await client.delete(pods.resource, { namespace, name });
    } catch (error) {
      if (isStatus(error, 404)) return;
      recorder.record(ownerResource, owner, "Warning", "FailedDelete", `Error deleting: ${messageOf(error)}`);
      throw new Error(`unable to delete pods: ${messageOf(error)}`, { cause: error });
    }
    recorder.record(ownerResource, owner, "Normal", "SuccessfulDelete", `Deleted pod: ${name}`);
    await pods.changes(pod);
  }

  /**
   * Removes a finalizer from a Pod, which may be gone afterwards. Resolves once the informer knows. Throws NotFound if
   * the Pod is gone already.
   */
  async removeFinalizer(pod: Pod, finalizer: string): Promise<void> {
    const { client, pods } = this.#options;
    const { namespace = "", name = "" } = pod.metadata;
    const patch = { metadata: withoutFinalizer(finalizer) };
    const { metadata } = await client.patch(pods.resource, { namespace, name }, patch, { isStrategic: true });
    await pods.sees(metadata.resourceVersion);
    const known = pods.get(keyOf(pod));
    // If the Pod is gone with its last finalizer, the response has the resourceVersion of the time before.
    const isOld = known?.metadata.resourceVersion === metadata.resourceVersion;
    if (known && isOld && known.metadata.finalizers?.includes(finalizer)) await pods.changes(known);
  }
}

/** A new Pod of its controller. Upstream: GetPodFromTemplate */
export function podFrom({ metadata, spec }: PodTemplateSpec, ownerResource: ServedResource, owner: KubeObject): Pod {
  const { name = "", namespace = "" } = owner.metadata;
  const { labels, annotations, finalizers } = metadata ?? {};
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: {
      generateName: dns1123Subdomain(`${name}-a`).length === 0 ? `${name}-` : name,
      namespace,
      ...cloneJson({ labels, annotations, finalizers }),
      ownerReferences: [controllerReference(ownerResource, owner)],
    },
    spec: cloneJson(spec ?? {}),
  };
}
