import type { LabelSelector } from "../../../../base/api/label-selector.ts";
import { readSelectorObject } from "../../../../base/api/selector-object.ts";
import { runTogether } from "../../../../base/util/run-together.ts";
import type { LabelSelector as SelectorObject } from "../../../../kinds/types/meta.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { type Controller, isStatus, messageOf, unlessCode } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { loop, type Queue, source, synced, unobserved } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { printSelectorObject } from "../../shared/print-selector.ts";
import { SelectorIndex } from "../../shared/selection.ts";
import { disruptedPods, failedStatus, nextStatus } from "./budget-status.ts";
import type { BudgetStatus, DisruptionBudget } from "./budget-types.ts";
import { ExpectedScale } from "./expected-scale.ts";
import { staleConditions } from "./stale-conditions.ts";

const NAME = "disruption-controller";

/** disruption-controller: computes how many Pods of a PodDisruptionBudget may be evicted. */
export function disruption(context: ManagerContext): Controller {
  const loops = [budgets(context), staleConditions(NAME, context)];
  const runs = loops.map((one) => (signal: AbortSignal) => one.run(signal));
  return { name: NAME, run: (signal) => runTogether(runs, signal) };
}

/** A missing selector selects nothing, an empty one everything. */
function selectorOf({ spec }: DisruptionBudget): LabelSelector | undefined {
  return spec.selector === undefined ? undefined : readSelectorObject(spec.selector);
}

function budgets(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { clock } = resources;
  const { informer: all } = informers.of<DisruptionBudget>("policy", "poddisruptionbudgets");
  const { informer: pods, byLabels } = informers.of<Pod>("", "pods");
  const selecting = all.fill(new SelectorIndex<DisruptionBudget>(selectorOf));
  const podsByLabels = byLabels();
  const scale = new ExpectedScale(context);
  const recorder = new EventRecorder(context, "controllermanager");

  /** Compat: like `updatePod`, a change of labels concerns only the budgets that match the new labels. */
  const observePod =
    (queue: Queue): Observer<Pod> =>
    (before, after) => {
      const pod = after ?? before;
      if (pod === undefined) return;
      const { namespace = "", name = "", labels } = pod.metadata;
      const found = [...selecting.matching(namespace, labels)];
      for (const budget of found) queue.add(keyOf(budget));
      const [first] = found;
      if (found.length < 2 || first === undefined) return;
      const message = `Pod ${JSON.stringify(namespace)}/${JSON.stringify(name)} matches multiple PodDisruptionBudgets.  Chose ${JSON.stringify(first.metadata.name)} arbitrarily.`;
      recorder.record(pods.resource, pod, "Warning", "MultiplePodDisruptionBudgets", message);
    };

  const write = async (budget: DisruptionBudget, status: BudgetStatus): Promise<void> => {
    const written = await client.update(all.resource, { ...budget, status }, { subresource: "status" });
    await all.sees(written.metadata.resourceVersion);
  };

  /** Writes the status. Returns after how many milliseconds it has to be checked again. */
  const update = async (budget: DisruptionBudget): Promise<number | undefined> => {
    const record = (type: "Normal" | "Warning", reason: string, message: string) =>
      recorder.record(all.resource, budget, type, reason, message);
    const { namespace = "" } = budget.metadata;
    const selector = selectorOf(budget);
    const selected = selector ? podsByLabels.select(namespace, selector) : [];
    if (selected.length === 0) record("Normal", "NoPods", "No matching pods found");
    const { unmanaged, ...expectation } = await scale.expect(budget, selected).catch((error: unknown) => {
      const message = `Failed to calculate the number of expected pods: ${messageOf(error)}`;
      record("Warning", "CalculateExpectedPodCountFailed", message);
      throw error;
    });
    if (unmanaged.length > 0) record("Warning", "UnmanagedPods", unmanagedMessage(budget.spec.selector));
    const nowMs = clock.now();
    const disrupted = disruptedPods(budget, selected, nowMs);
    for (const pod of disrupted.late) {
      // Compat: the Event `NotDeleted` names the namespace twice.
      const message = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`;
      recorder.record(pods.resource, pod, "Warning", "NotDeleted", message);
    }
    const status = nextStatus(budget, selected, expectation, disrupted.pods, nowMs);
    if (status) await write(budget, status);
    return disrupted.nextMs;
  };

  return loop({
    name: NAME,
    workers: 1,
    clock,
    report,
    sources: [synced(all), source(pods, observePod), ...scale.informers.map(unobserved)],
    async sync(key, queue) {
      const budget = all.get(key);
      if (budget === undefined) return;
      try {
        const againMs = await update(budget);
        if (againMs !== undefined) queue.addAfter(key, againMs + 1);
      } catch (error) {
        if (isStatus(error, 409)) throw error;
        await write(budget, failedStatus(budget, messageOf(error), clock.now())).catch(unlessCode(404));
      }
    },
  });
}

function unmanagedMessage(selector: SelectorObject | undefined): string {
  return `Pods selected by this PodDisruptionBudget (selector: ${printSelectorObject(selector)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
}
