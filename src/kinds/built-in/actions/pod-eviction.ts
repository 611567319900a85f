import { ApiError, badRequest, conflict, invalid, notFound, plainError } from "../../../base/api/api-error.ts";
import { invalidField } from "../../../base/api/field-error.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { type DeleteOptions, parseDeleteOptions } from "../../../base/api/options.ts";
import type { Status } from "../../../base/api/status.ts";
import type { ActionCall } from "../../../resources/model/actions.ts";
import { podStatusOf } from "../../types/pod-status.ts";
import { findCondition, readText } from "../cells.ts";
import {
  alwaysAllowsUnhealthyPods,
  budgetStillProcessed,
  budgetsOf,
  checkAndDecrement,
  isBudgetMet,
} from "./disruption-budget.ts";
import { SUCCESS } from "./pod-binding.ts";
import { setPodCondition } from "./pod-conditions.ts";

const TRIES = 20;
const PAUSE_MS = 500;
const PODS = { group: "", resource: "pods" };

/** pods/eviction: deletes a pod if its PodDisruptionBudget allows it. */
export async function evictPod(call: ActionCall): Promise<Status> {
  const { key, body } = call;
  if ((body.metadata.name ?? "") !== key.name) throw badRequest("name in URL does not match name in Eviction object");
  const options = readOptions(call);
  const pod = await endUnbudgeted(call, options);
  if (!pod) return SUCCESS;
  const budgets = await budgetsOf(pod, call.access);
  if (budgets.length > 1) {
    const text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw plainError(500, text);
  }
  const [budget] = budgets;
  if (!budget) {
    await endPod(call, options);
    return SUCCESS;
  }
  // Evicting a pod that is not ready disrupts nothing, unless it has become ready meanwhile.
  const isUnhealthy = findCondition(pod, "Ready")?.status !== "True";
  const isFree = isUnhealthy && (alwaysAllowsUnhealthyPods(budget) || isBudgetMet(budget));
  if (!isFree) {
    await checkAndDecrement(budget, pod, call.access, options.dryRun);
    await endPod(call, options);
    return SUCCESS;
  }
  try {
    await endPod(call, atVersion(options, pod));
  } catch (error) {
    if (isConflict(error) && options.preconditions?.resourceVersion === undefined) {
      throw budgetStillProcessed(budget.metadata.name ?? "");
    }
    throw error;
  }
  return SUCCESS;
}

/** The DeleteOptions of an Eviction. */
interface EvictionOptions extends DeleteOptions {
  /** Why the pod cannot be deleted. Compat: only returned after the condition DisruptionTarget has been written. */
  readonly refusal?: ApiError;
}

function readOptions({ body, key, dryRun }: ActionCall): EvictionOptions {
  const sent: JsonObject = isObject(body.deleteOptions) ? body.deleteOptions : {};
  if (sent.ignoreStoreReadErrorWithClusterBreakingPotential === true) {
    const path = "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential";
    throw invalid({ group: "policy", kind: "Eviction" }, key.name, [
      invalidField(path, true, "can not be set for pod eviction, try after removing the option"),
    ]);
  }
  try {
    const options = parseDeleteOptions(new URLSearchParams(), sent);
    return { ...options, dryRun: options.dryRun || dryRun };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { dryRun: dryRun || Array.isArray(sent.dryRun), refusal: error };
  }
}

/**
 * Deletes a pod without checking PodDisruptionBudgets if it has ended, has not started, or is terminating. Otherwise
 * returns it.
 */
async function endUnbudgeted(call: ActionCall, options: EvictionOptions): Promise<KubeObject | undefined> {
  const { access, key } = call;
  for (let attempt = 1; ; attempt += 1) {
    const pod = await access.find("", "pods", key, "newest");
    if (!pod) throw notFound(PODS, key.name);
    const phase = readText(pod, ".status.phase");
    const isGoing = pod.metadata.deletionTimestamp !== undefined;
    const isDone = phase === "Succeeded" || phase === "Failed" || isGoing;
    if (!isDone && phase !== "Pending") return pod;
    try {
      const isAsked = options.preconditions?.resourceVersion !== undefined;
      await endPod(call, isDone || isAsked ? options : atVersion(options, pod));
      return undefined;
    } catch (error) {
      const { uid, resourceVersion } = options.preconditions ?? {};
      // A pod with another uid will not match later.
      const mayRetry = isConflict(error) && resourceVersion === undefined && (!uid || uid === pod.metadata.uid);
      if (!mayRetry || attempt === TRIES) throw error;
      await access.clock.sleep(PAUSE_MS);
    }
  }
}

function atVersion(options: EvictionOptions, { metadata }: KubeObject): EvictionOptions {
  return { ...options, preconditions: { ...options.preconditions, resourceVersion: metadata.resourceVersion } };
}

function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 409;
}

/** Writes the condition DisruptionTarget and deletes the pod. */
async function endPod({ access, key }: ActionCall, options: EvictionOptions): Promise<void> {
  let { preconditions } = options;
  if (!options.dryRun) {
    const noted = await access.update("", "pods", key, (pod) => noteEviction(pod, options, access.clock.now()), {
      subresource: "status",
    });
    if (preconditions?.resourceVersion !== undefined) {
      preconditions = { ...preconditions, resourceVersion: noted.metadata.resourceVersion };
    }
  }
  if (options.refusal) throw options.refusal;
  await access.delete("", "pods", key, { ...options, preconditions });
}

function noteEviction(pod: KubeObject, { preconditions }: DeleteOptions, now: number): KubeObject {
  const { name = "", uid, resourceVersion } = pod.metadata;
  const wanted = preconditions ?? {};
  const refuse = (text: string) => conflict({ group: "", resource: "Pod" }, name, text);
  if (wanted.uid && wanted.uid !== uid) {
    throw refuse(
      `the UID in the precondition (${wanted.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (wanted.resourceVersion && wanted.resourceVersion !== resourceVersion) {
    throw refuse(
      `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
  const status = podStatusOf(pod);
  const reason = "EvictionByEvictionAPI";
  setPodCondition(status, { type: "DisruptionTarget", status: "True", reason, message: "Eviction API: evicting" }, now);
  return { ...pod, status };
}
