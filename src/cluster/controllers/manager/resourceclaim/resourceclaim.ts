import type { KubeObject } from "../../../../base/api/object.ts";
import type { ClaimStatus } from "../../../../kinds/built-in/resource/types.ts";
import type { PodResourceClaim } from "../../../../kinds/types/pod.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { type Controller, messageOf, unlessCode } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { readFresh } from "../../shared/fresh.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { ownedKey } from "../../shared/informers.ts";
import { loop, type Queue, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { compare } from "../../shared/order.ts";
import { controllerOf } from "../../shared/owners.ts";
import {
  CLAIM_FINALIZER,
  claimKeysOf,
  claimNameOf,
  isDone,
  isForPod,
  lacksReservation,
  type ResourceClaim,
  type ResourceClaimTemplate,
  templateKeysOf,
} from "../../shared/resource-claims.ts";
import { CLAIM_ANNOTATION, claimFromTemplate } from "./claim-from-template.ts";

const NAME = "resourceclaim-controller";
const GROUP = "resource.k8s.io";
const FIELD_MANAGER = "ResourceClaimController";

const POD = "pod:";
const CLAIM = "claim:";

/**
 * resourceclaim-controller: creates ResourceClaims from templates for Pods, and releases claims whose Pods no longer
 * run.
 *
 * Differs: PodGroups get no claims. The gate DRAWorkloadResourceClaims, which is off by default, would allow that.
 */
export function resourceClaims(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { informer: pods } = informers.of<Pod>("", "pods");
  const { informer: claims, byOwner: claimsByOwner } = informers.of<ResourceClaim>(GROUP, "resourceclaims");
  const { informer: templates } = informers.of<ResourceClaimTemplate>(GROUP, "resourceclaimtemplates");
  const podsByClaim = pods.index(claimKeysOf);
  const podsByTemplate = pods.index(templateKeysOf);
  const recorder = new EventRecorder(context, "resource_claim");

  const addPod = (queue: Queue, pod: Pod, isGone: boolean): void => {
    if (isGone || isDone(pod)) for (const key of claimKeysOf(pod)) queue.add(`${CLAIM}${key}`);
    if (!isGone && needsWork(pod)) queue.add(`${POD}${keyOf(pod)}`);
  };

  const observePod =
    (queue: Queue): Observer<Pod> =>
    (before, after) => {
      const pod = after ?? before;
      if (pod) addPod(queue, pod, after === undefined);
    };

  const observeClaim =
    (queue: Queue): Observer<ResourceClaim> =>
    (before, after) => {
      const claim = after ?? before;
      if (claim === undefined) return;
      if (after) queue.add(`${CLAIM}${keyOf(after)}`);
      for (const pod of podsByClaim.get(keyOf(claim))) addPod(queue, pod, false);
    };

  const observeTemplate =
    (queue: Queue): Observer<ResourceClaimTemplate> =>
    (_, after) => {
      if (after) for (const pod of podsByTemplate.get(keyOf(after))) addPod(queue, pod, false);
    };

  /** Whether a claim of the Pod must be created or reserved. */
  const needsWork = (pod: Pod): boolean => {
    if (pod.metadata.deletionTimestamp !== undefined) return false;
    return (pod.spec?.resourceClaims ?? []).some((entry) => {
      const wanted = claimNameOf(pod, entry);
      if (wanted.state !== "named") return wanted.state === "missing";
      const claim = claims.get(`${pod.metadata.namespace}/${wanted.name}`);
      if (claim === undefined) return wanted.isGenerated;
      return (!wanted.isGenerated || isForPod(claim, pod)) && lacksReservation(claim, pod);
    });
  };

  /** The name of a claim that is generated for the Pod now. Undefined if there is nothing to generate. */
  const generate = async (pod: Pod, entry: PodResourceClaim): Promise<string | undefined> => {
    const { namespace = "", uid } = pod.metadata;
    const { name = "", resourceClaimTemplateName: templateName } = entry;
    const wanted = claimNameOf(pod, entry);
    if (wanted.state === "skipped" || templateName === undefined) return undefined;
    if (wanted.state === "named" && (await isThere(pod, wanted.name))) return undefined;
    // Its name may not have reached the status of the Pod.
    for (const claim of claimsByOwner.get(ownedKey(uid))) {
      if (claim.metadata.annotations?.[CLAIM_ANNOTATION] === name) return claim.metadata.name;
    }
    const template = templates.get(`${namespace}/${templateName}`);
    if (template === undefined) {
      const cause = `resourceclaimtemplate.${GROUP} "${templateName}" not found`;
      throw new Error(`resource claim template "${templateName}": ${cause}`);
    }
    const claim = claimFromTemplate(pod, entry, template, claims.resource.apiVersion);
    const created = await client.create(claims.resource, claim).catch((error: unknown) => {
      throw new Error(`create ResourceClaim : ${messageOf(error)}`, { cause: error });
    });
    await claims.sees(created.metadata.resourceVersion);
    return created.metadata.name;
  };

  /** Whether the claim that was generated for the Pod still exists. */
  const isThere = async (pod: Pod, name: string): Promise<boolean> => {
    const { namespace = "" } = pod.metadata;
    const wanted: KubeObject = { kind: "ResourceClaim", apiVersion: "", metadata: { namespace, name } };
    const claim = claims.get(keyOf(wanted)) ?? (await readFresh(resources, claims.resource, wanted));
    return claim !== undefined && isForPod(claim as ResourceClaim, pod);
  };

  const syncPod = async (key: string): Promise<void> => {
    const pod = pods.get(key);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
    const generated = new Map<string, string>();
    for (const entry of pod.spec?.resourceClaims ?? []) {
      try {
        const name = await generate(pod, entry);
        if (name !== undefined) generated.set(entry.name ?? "", name);
      } catch (error) {
        const message = `PodResourceClaim ${entry.name}: ${messageOf(error)}`;
        recorder.record(pods.resource, pod, "Warning", "FailedResourceClaimCreation", message);
        throw new Error(`pod ${key}, ${message}`, { cause: error });
      }
    }
    if (generated.size > 0) await writeNames(pod, generated);
    else await reserveAll(pod);
  };

  /** Sets the names of generated claims in the status of a Pod. Its change leads to another sync. */
  const writeNames = async (pod: Pod, generated: ReadonlyMap<string, string>): Promise<void> => {
    const { namespace = "", name = "" } = pod.metadata;
    const names = new Map(generated);
    for (const { name: entry = "", resourceClaimName } of pod.status?.resourceClaimStatuses ?? []) {
      if (resourceClaimName !== undefined && !names.has(entry)) names.set(entry, resourceClaimName);
    }
    const resourceClaimStatuses = [...names]
      .sort(([one], [other]) => compare(one, other))
      .map(([entry, resourceClaimName]) => ({ name: entry, resourceClaimName }));
    const applied = { kind: "Pod", apiVersion: "v1", metadata: { namespace, name }, status: { resourceClaimStatuses } };
    const options = { fieldManager: FIELD_MANAGER, subresource: "status" };
    const written = await client.apply(pods.resource, applied, options);
    await pods.sees(written.metadata.resourceVersion);
  };

  /** Reserves allocated claims for a Pod that got its node without the scheduler. */
  const reserveAll = async (pod: Pod): Promise<void> => {
    const { namespace = "", name = "", uid = "" } = pod.metadata;
    for (const entry of pod.spec?.resourceClaims ?? []) {
      const wanted = claimNameOf(pod, entry);
      const claim = wanted.state === "named" ? claims.get(`${namespace}/${wanted.name}`) : undefined;
      if (claim === undefined || !lacksReservation(claim, pod)) continue;
      const reservedFor = [...(claim.status?.reservedFor ?? []), { resource: "pods", name, uid }];
      await writeStatus(claim, { ...claim.status, reservedFor });
    }
  };

  const writeStatus = async (claim: ResourceClaim, status: ClaimStatus): Promise<ResourceClaim> => {
    const written = await client.update(claims.resource, { ...claim, status }, { subresource: "status" });
    await claims.sees(written.metadata.resourceVersion);
    return written as ResourceClaim;
  };

  /** Whether a reservation is for a Pod that no longer runs. Those of other kinds are kept. */
  const isOver = async (namespace: string, reserved: KubeObject["metadata"]): Promise<boolean> => {
    const { apiGroup = "", resource, name = "", uid } = reserved;
    if (apiGroup !== "" || resource !== "pods") return false;
    const wanted: KubeObject = { kind: "Pod", apiVersion: "v1", metadata: { namespace, name } };
    const pod = pods.get(keyOf(wanted)) ?? (await readFresh(resources, pods.resource, wanted));
    return pod?.metadata.uid !== uid || isDone(pod as Pod);
  };

  const removeFinalizer = async (claim: ResourceClaim): Promise<void> => {
    const finalizers = claim.metadata.finalizers?.filter((one) => one !== CLAIM_FINALIZER) ?? [];
    const written = await client.update(claims.resource, { ...claim, metadata: { ...claim.metadata, finalizers } });
    await claims.sees(written.metadata.resourceVersion);
  };

  /** Removes reservations. A claim without any is deallocated, and may be deleted then. */
  const release = async (claim: ResourceClaim): Promise<number> => {
    const { metadata, status = {} } = claim;
    const reservations = status.reservedFor ?? [];
    const remaining: typeof reservations = [];
    for (const one of reservations) if (!(await isOver(metadata.namespace ?? "", one))) remaining.push(one);
    const isProtected = metadata.finalizers?.includes(CLAIM_FINALIZER) ?? false;
    const isFree = isProtected && remaining.length === 0;
    const { allocation, reservedFor: _, ...rest } = status;
    const isLeaving = metadata.deletionTimestamp !== undefined;
    if (remaining.length < reservations.length) {
      const kept = {
        ...(allocation && !isFree && { allocation }),
        ...(remaining.length > 0 && { reservedFor: remaining }),
      };
      const written = await writeStatus(claim, { ...rest, ...kept });
      if (isFree) await removeFinalizer(written);
    } else if (isFree && isLeaving) {
      await removeFinalizer(allocation ? await writeStatus(claim, rest) : claim);
    }
    return remaining.length;
  };

  const syncClaim = async (key: string): Promise<void> => {
    const claim = claims.get(key);
    if (claim === undefined || (await release(claim)) > 0) return;
    const owner = controllerOf(claim);
    if (owner?.apiVersion !== "v1" || owner.kind !== "Pod") return;
    const { namespace = "", name = "" } = claim.metadata;
    const pod = pods.get(`${namespace}/${owner.name}`);
    // The garbage collector deletes claims of Pods that are gone.
    if (pod === undefined || (pod.metadata.uid === owner.uid && !isDone(pod))) return;
    await client.delete(claims.resource, { namespace, name }).catch(unlessCode(404));
  };

  return loop({
    name: NAME,
    workers: 50,
    clock: resources.clock,
    report,
    sources: [source(pods, observePod), source(claims, observeClaim), source(templates, observeTemplate)],
    sync: (key) => (key.startsWith(POD) ? syncPod(key.slice(POD.length)) : syncClaim(key.slice(CLAIM.length))),
  });
}
